#include "luminal/driver/fusion/paired_times.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "luminal/base/seconds_since.h"

namespace luminal {
namespace {

using base::seconds_since;
using Clock = std::chrono::steady_clock;

constexpr double kTurnSeconds = 2e-4;
constexpr double kLongestTurn = 5e-3;  // of several runs
constexpr size_t kTurns = 3;
constexpr size_t kFewestPairedRounds = 7;  // enough for a 95 % interval
constexpr size_t kMostPairedRounds = 301;
constexpr int kMostRuns = 1000;

// Seconds per run, over several runs or as many as fit: when threads wait for processors,
// microseconds can become milliseconds.
double seconds_of(const std::function<void()>& run, int times) {
  const auto start = Clock::now();
  int done = 0;
  do {
    run();
    ++done;
  } while (done < times && seconds_since(start) < kLongestTurn);
  return seconds_since(start) / done;
}

}  // namespace

PairedTimes paired_times(const std::vector<std::function<void()>>& rivals, double seconds) {
  const size_t n = rivals.size();
  std::vector<int> runs(n);
  double turn_seconds = 0;  // of all rivals
  for (size_t r = 0; r < n; ++r) {
    rivals[r]();  // computes what is kept, such as packed weights
    const double once = std::max(seconds_of(rivals[r], 1), 1e-7);
    runs[r] = std::clamp(static_cast<int>(std::ceil(kTurnSeconds / once)), 1, kMostRuns);
    turn_seconds += once * runs[r];
  }
  const bool is_long = turn_seconds * static_cast<double>(kTurns * kFewestPairedRounds) > seconds;
  const size_t turns = is_long ? 1 : kTurns;
  PairedTimes times(n);
  const auto start = Clock::now();
  for (size_t round = 0; round < kMostPairedRounds; ++round) {
    if (round >= kFewestPairedRounds && seconds_since(start) > seconds) break;
    for (auto& of_rival : times) of_rival.push_back(std::numeric_limits<double>::infinity());
    for (size_t turn = round * turns; turn < (round + 1) * turns; ++turn) {
      for (size_t i = 0; i < n; ++i) {
        // The order changes from turn to turn.
        const size_t r = turn % 2 == 0 ? (turn / 2 + i) % n : (turn / 2 + n - 1 - i) % n;
        times[r].back() = std::min(times[r].back(), seconds_of(rivals[r], runs[r]));
      }
    }
  }
  return times;
}

MedianInterval median_interval(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const size_t n = values.size();
  const double median = (values[(n - 1) / 2] + values[n / 2]) / 2;
  // The number of samples below the median is binomial: the maximum k that leaves at most 2.5 % at
  // either end.
  double probability = std::pow(0.5, static_cast<double>(n));
  double below = probability;
  size_t k = 0;
  while (k + 1 < n / 2) {
    probability *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    if (below + probability > 0.025) break;
    below += probability;
    ++k;
  }
  return {.median = median, .low = values[k], .high = values[n - 1 - k]};
}

MedianInterval ratio_of(const std::vector<double>& times, const std::vector<double>& by) {
  std::vector<double> ratios;
  for (size_t i = 0; i < times.size(); ++i) ratios.push_back(times[i] / by[i]);
  return median_interval(std::move(ratios));
}

}  // namespace luminal
