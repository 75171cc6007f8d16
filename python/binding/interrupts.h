// Ctrl-C while the library works without the GIL.
#pragma once

#include <chrono>

#include "binding/casters.h"

namespace luminal::python {

// Asks Python for pending signals, at most twenty times a second: asking needs the GIL.
class Interrupts {
 public:
  // Whether Ctrl-C was pressed; from then on it stays so. Other errors of signal handlers are
  // thrown.
  bool pressed();
  // The same, as Python's KeyboardInterrupt.
  void check();

 private:
  bool due();

  std::chrono::steady_clock::time_point next_ = {};
  bool pressed_ = false;
};

}  // namespace luminal::python
