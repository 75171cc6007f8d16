// A progress line on a terminal's standard error, with the remaining time. Shows nothing for the
// first two seconds, and nothing if there is no terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "luminal/driver/compile.h"

namespace luminal::cli {

class ProgressLine {
 public:
  // `asked`: also without a terminal, as an occasional line.
  explicit ProgressLine(bool asked = false);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Whether anything will be shown.
  bool shows() const { return terminal_ || asked_; }
  // Whether to show something again; check it before composing the text.
  bool due() const { return shows() && Clock::now() >= next_; }
  void show(const std::string& text);
  // Shows "reading the prompt: 512 of 2048 tokens, 12 s left", if due. The remaining time is
  // extrapolated from the time since `done` was first passed for `what`.
  void show_share(const std::string& what, int64_t done, int64_t total, const std::string& unit);
  // Shows the progress of a compile, if due.
  void show(const CompileProgress& now);
  // Call before writing anything else.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  bool asked_;
  bool shown_ = false;
  Clock::time_point next_;
  // State of the last show_share().
  std::string what_;
  int64_t first_done_ = 0;
  Clock::time_point began_;
};

}  // namespace luminal::cli
