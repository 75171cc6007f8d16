// A line on a terminal's standard error that says how far a long run is, and how long it will still
// take. Nothing for the first two seconds, and nothing where no terminal is.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "luminal/driver/compile.h"

namespace luminal::cli {

class ProgressLine {
 public:
  // `asked`: also where no terminal is, as a line now and then.
  explicit ProgressLine(bool asked = false);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Whether anything will be shown.
  bool shows() const { return terminal_ || asked_; }
  // Whether it is time to show something again: asked before the text is made.
  bool due() const { return shows() && Clock::now() >= next_; }
  void show(const std::string& text);
  // "reading the prompt: 512 of 2048 tokens, 12 s left", if it is time. The time left goes by the
  // time since `done` was first seen for `what`.
  void show_share(const std::string& what, int64_t done, int64_t total, const std::string& unit);
  // How far a compile is, if it is time.
  void show(const CompileProgress& now);
  // Before anything else is written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  bool asked_;
  bool shown_ = false;
  Clock::time_point next_;
  // Of the share shown last.
  std::string what_;
  int64_t first_done_ = 0;
  Clock::time_point began_;
};

}  // namespace luminal::cli
