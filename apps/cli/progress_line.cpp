#include "apps/cli/progress_line.h"

#include <fmt/format.h>

#include <iostream>

#include "luminal/base/os_terminal.h"

namespace luminal::cli {
namespace {

constexpr std::chrono::milliseconds kQuietStart{2000}, kFrame{100}, kLines{2000};

}  // namespace

ProgressLine::ProgressLine()
    : terminal_(base::error_is_terminal()), next_(Clock::now() + kQuietStart) {}

void ProgressLine::show(const std::string& text) {
  next_ = Clock::now() + (terminal_ ? kFrame : kLines);
  std::cerr << (terminal_ ? "\r\x1b[K" + text : text + "\n") << std::flush;
  shown_ = terminal_;
}

void ProgressLine::show(const CompileProgress& now) {
  if (!due()) return;
  if (!now.text.empty()) return show(fmt::format("{}: {}", now.stage, now.text));
  const char* what = now.stage == "plan"     ? "plans tried"
                     : now.stage == "fusion" ? "patterns decided"
                                             : "kernels";
  show(now.total > 0 ? fmt::format("{}: {} of {} {}", now.stage, now.done, now.total, what)
                     : fmt::format("{}: {} {}", now.stage, now.done, what));
}

void ProgressLine::clear() {
  if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace luminal::cli
