#include "luminal/search/rolling/periodic_runs.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace luminal::search {
namespace {

// Per length of windows, only the most frequent distances are tried.
constexpr size_t kMostPeriodsPerLength = 4;

using Names = std::vector<uint32_t>;  // by position: equal windows have equal numbers

// Windows of twice the length, named by their two halves.
Names doubled(const Names& names, size_t length) {
  std::unordered_map<uint64_t, uint32_t> known;
  Names result;
  for (size_t i = 0; i + length < names.size(); ++i) {
    const uint64_t both = (uint64_t{names[i]} << 32) | names[i + length];
    result.push_back(known.try_emplace(both, static_cast<uint32_t>(known.size())).first->second);
  }
  return result;
}

// Counts distances from each window to the next equal one. A window as long as a run's period has
// no equal nearer than one period, so every period is found at some length.
void add_periods(const Names& names, std::set<size_t>& periods) {
  std::unordered_map<uint32_t, size_t> last;
  std::map<size_t, size_t> count;  // by distance
  for (size_t i = 0; i < names.size(); ++i) {
    const auto [at, is_new] = last.try_emplace(names[i], i);
    if (is_new) continue;
    ++count[i - at->second];
    at->second = i;
  }
  std::vector<std::pair<size_t, size_t>> ranked(count.begin(), count.end());
  std::ranges::sort(ranked, [](const auto& a, const auto& b) {
    return std::make_pair(b.second, a.first) < std::make_pair(a.second, b.first);
  });
  if (ranked.size() > kMostPeriodsPerLength) ranked.resize(kMostPeriodsPerLength);
  for (const auto& [distance, times] : ranked) periods.insert(distance);
}

void add_runs(std::span<const uint32_t> symbols, size_t period, std::vector<PeriodicRun>& runs) {
  size_t start = 0;
  for (size_t i = 0; i + period <= symbols.size(); ++i) {
    if (i + period < symbols.size() && symbols[i] == symbols[i + period]) continue;
    const size_t length = i - start + period;
    if (length >= 2 * period) runs.push_back({start, period, length});
    start = i + 1;
  }
}

}  // namespace

std::vector<PeriodicRun> periodic_runs(std::span<const uint32_t> symbols) {
  std::set<size_t> periods;
  Names names(symbols.begin(), symbols.end());
  for (size_t length = 1; length <= symbols.size() / 2; length *= 2) {
    add_periods(names, periods);
    names = doubled(names, length);
  }
  std::vector<PeriodicRun> runs;
  for (size_t period : periods) add_runs(symbols, period, runs);
  std::ranges::sort(runs, [](const PeriodicRun& a, const PeriodicRun& b) {
    return std::make_tuple(b.saved(), a.period, a.start) <
           std::make_tuple(a.saved(), b.period, b.start);
  });
  return runs;
}

}  // namespace luminal::search
