#include "apps/cli/terminal/progress_line.h"

#include <fmt/format.h>

#include <iostream>

#include "luminal/base/os/terminal.h"
#include "luminal/base/text/printable.h"

namespace luminal::cli {
namespace {

constexpr std::chrono::milliseconds kQuietStart{2000}, kFrame{100}, kLines{2000};

// A line that wraps can't be overwritten.
std::string shortened(const std::string& text) {
  const int columns = base::terminal_columns();
  return columns > 0 ? base::printable(text, static_cast<size_t>(columns - 1)) : text;
}

// ", 12 s left", or empty while it can't be estimated.
std::string time_left(double seconds, int64_t done, int64_t to_do) {
  if (done <= 0 || seconds < 0.5) return {};
  const double left = seconds / static_cast<double>(done) * static_cast<double>(to_do);
  if (left < 90) return fmt::format(", {:.0f} s left", left);
  return fmt::format(", {:.0f} min left", left / 60);
}

}  // namespace

ProgressLine::ProgressLine(ProgressMode mode)
    : terminal_(mode != ProgressMode::Off && base::error_is_terminal()),
      always_(mode == ProgressMode::Always),
      next_(Clock::now() + kQuietStart) {}

void ProgressLine::show(const std::string& text) {
  if (!shows()) return;
  next_ = Clock::now() + (terminal_ ? kFrame : kLines);
  std::cerr << (terminal_ ? "\r\x1b[K" + shortened(text) : text + "\n") << std::flush;
  shown_ = terminal_;
}

void ProgressLine::show_share(const std::string& what, int64_t done, int64_t total,
                              const std::string& unit) {
  if (what != what_ || done < first_done_) {
    what_ = what;
    first_done_ = done;
    began_ = Clock::now();
  }
  if (!due()) return;
  if (total <= 0) return show(fmt::format("{}: {} {}", what, done, unit));
  const std::chrono::duration<double> taken = Clock::now() - began_;
  show(fmt::format("{}: {} of {} {}{}", what, done, total, unit,
                   time_left(taken.count(), done - first_done_, total - done)));
}

void ProgressLine::show(const CompileProgress& now) {
  if (!now.text.empty()) {
    // First: a narrow terminal cuts the end off.
    const std::string left =
        now.seconds_left < 0 ? "" : fmt::format("{:.0f} s left, ", now.seconds_left);
    if (due()) show(fmt::format("{}: {}{}", now.stage, left, now.text));
    return;
  }
  const char* what = now.stage == "plan"     ? "plans tried"
                     : now.stage == "fusion" ? "patterns decided"
                                             : "kernels";
  show_share(std::string(now.stage), now.done, now.total, what);
}

void ProgressLine::clear() {
  if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace luminal::cli
