#include "apps/bench/harness/busy_work.h"

#include <algorithm>
#include <chrono>

namespace luminal::bench {
namespace {

// A dependency chain: each step waits for the one before.
void take_steps(int64_t steps) {
  double value = 1;
  for (int64_t i = 0; i < steps; ++i) {
    value = value * 0.999999 + 1e-6;
    __asm__ volatile("" : "+m"(value));
  }
}

double seconds_of(int64_t steps) {
  const auto start = std::chrono::steady_clock::now();
  take_steps(steps);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

BusyWork::BusyWork(double seconds) {
  constexpr int64_t kTried = 20'000;
  double best = seconds_of(kTried);
  for (int i = 0; i < 50; ++i) best = std::min(best, seconds_of(kTried));
  steps_ = static_cast<int64_t>(seconds / best * static_cast<double>(kTried));
}

void BusyWork::run() const { take_steps(steps_); }

}  // namespace luminal::bench
