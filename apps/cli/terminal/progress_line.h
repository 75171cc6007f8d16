// A progress line on standard error, with the remaining time. Shows nothing for the first two
// seconds, and by default nothing if standard error is no terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "luminal/driver/compile.h"

namespace luminal::cli {

enum class ProgressMode : uint8_t {
  Off,
  OnTerminal,
  Always,  // without a terminal, as an occasional line
};
// The mode of --progress or --verbose (`always`), and of --quiet, which wins.
constexpr ProgressMode progress_mode(bool always, bool quiet = false) {
  if (quiet) return ProgressMode::Off;
  return always ? ProgressMode::Always : ProgressMode::OnTerminal;
}

class ProgressLine {
 public:
  explicit ProgressLine(ProgressMode mode = ProgressMode::OnTerminal);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Whether anything will be shown.
  bool shows() const { return terminal_ || always_; }
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
  bool always_;
  bool shown_ = false;
  Clock::time_point next_;
  // State of the last show_share().
  std::string what_;
  int64_t first_done_ = 0;
  Clock::time_point began_;
};

}  // namespace luminal::cli
