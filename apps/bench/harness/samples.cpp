#include "apps/bench/harness/samples.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace luminal::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Enough for a spread, few enough to write down.
constexpr double kSamples = 50;
// Minimum duration of a sample, because reading the clock takes time, too.
constexpr double kLeastSampleSeconds = 20e-6;

double seconds_of(const std::function<void()>& run, int64_t times) {
  const Clock::time_point start = Clock::now();
  for (int64_t i = 0; i < times; ++i) run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Approximate seconds of a run: the best of a few, because a single one may have been disturbed.
double roughly(const std::function<void()>& run) {
  constexpr int kTries = 10;
  constexpr double kLongEnough = 0.02;
  double best = kLongEnough * 1e6, all = 0;
  for (int i = 0; i < kTries && all < kLongEnough; ++i) {
    const double taken = seconds_of(run, 1);
    best = std::min(best, taken);
    all += taken;
  }
  return std::max(best, 1e-7);
}

}  // namespace

Samples take_samples(const std::function<void()>& run, double min_seconds) {
  run();  // warm-up: folds weights, allocates memory
  const double wanted = std::max(min_seconds / kSamples, kLeastSampleSeconds);
  Samples samples;
  samples.runs_per_sample = std::max<int64_t>(1, std::llround(wanted / roughly(run)));
  for (double total = 0; total < min_seconds || samples.seconds.empty();) {
    const double taken = seconds_of(run, samples.runs_per_sample);
    samples.seconds.push_back(taken / static_cast<double>(samples.runs_per_sample));
    total += taken;
  }
  return samples;
}

}  // namespace luminal::bench
