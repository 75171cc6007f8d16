#include "apps/cli/progress_line.h"

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

void ProgressLine::clear() {
  if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace luminal::cli
