// BusyWork: instructions that take a given time, to inject a slowdown of known size in tests.
#pragma once

#include <cstdint>

namespace luminal::bench {

class BusyWork {
 public:
  BusyWork() = default;  // no work
  // Calibrates a number of steps that takes this long now: a count, so that it slows down with the
  // machine like a kernel does.
  explicit BusyWork(double seconds);
  void run() const;

 private:
  int64_t steps_ = 0;
};

}  // namespace luminal::bench
