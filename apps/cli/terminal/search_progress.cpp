#include "apps/cli/terminal/search_progress.h"

#include <algorithm>

namespace luminal::cli {
namespace {

constexpr std::chrono::milliseconds kTick{250};

}  // namespace

SearchProgress::SearchProgress(ProgressMode mode) : line_(mode) {
  if (line_.shows()) ticker_ = std::thread([this] { tick(); });
}

SearchProgress::~SearchProgress() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_all();
  if (ticker_.joinable()) ticker_.join();
}

void SearchProgress::show(const CompileProgress& now) {
  const std::lock_guard lock(mutex_);
  search_.reset();
  if (now.stage == "search") {
    search_ = now;
    told_ = Clock::now();
  }
  line_.show(now);
}

void SearchProgress::tick() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kTick, [this] { return is_over_; })) {
    if (!search_) continue;
    CompileProgress now = *search_;
    const std::chrono::duration<double> since = Clock::now() - told_;
    if (now.seconds_left >= 0) now.seconds_left = std::max(0.0, now.seconds_left - since.count());
    line_.show(now);
  }
}

}  // namespace luminal::cli
