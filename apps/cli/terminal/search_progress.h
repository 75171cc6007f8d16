// SearchProgress: a progress line whose remaining time counts down while a search is busy timing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "apps/cli/terminal/progress_line.h"

namespace luminal::cli {

class SearchProgress {
 public:
  explicit SearchProgress(ProgressMode mode);
  ~SearchProgress();  // clears the line

  void show(const CompileProgress& now);

 private:
  using Clock = std::chrono::steady_clock;

  void tick();

  ProgressLine line_;
  std::mutex mutex_;  // of all that follows, and of the line
  std::condition_variable ended_;
  bool is_over_ = false;
  std::optional<CompileProgress> search_;  // the last news of a search
  Clock::time_point told_;                 // when it came
  std::thread ticker_;
};

}  // namespace luminal::cli
