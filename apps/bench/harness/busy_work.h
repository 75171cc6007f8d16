// BusyWork: instructions that take a given time, to plant a slowdown of a known size in tests.
#pragma once

#include <cstdint>

namespace luminal::bench {

class BusyWork {
 public:
  BusyWork() = default;  // none
  // As many steps as take so long now: a count, so that it slows down with the machine as a
  // kernel does.
  explicit BusyWork(double seconds);
  void run() const;

 private:
  int64_t steps_ = 0;
};

}  // namespace luminal::bench
