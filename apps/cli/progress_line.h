// A line on standard error that says how far a long run is: written over on a terminal, a line now
// and then elsewhere. Nothing for the first two seconds.
#pragma once

#include <chrono>
#include <string>

#include "luminal/driver/compile.h"

namespace luminal::cli {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool on_terminal() const { return terminal_; }
  // Whether it is time to show something again: asked before the text is made.
  bool due() const { return Clock::now() >= next_; }
  void show(const std::string& text);
  // How far a compile is, if it is time.
  void show(const CompileProgress& now);
  // Before anything else is written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  bool shown_ = false;
  Clock::time_point next_;
};

}  // namespace luminal::cli
