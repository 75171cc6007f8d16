#include "apps/bench/harness/turns.h"

#include <algorithm>
#include <chrono>

namespace luminal::bench {

TurnTimes take_turns(const std::vector<std::function<double(int round)>>& sides,
                     const Rounds& rounds) {
  TurnTimes times(sides.size());
  const auto start = std::chrono::steady_clock::now();
  for (int round = 0; round < rounds.most; ++round) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (round >= rounds.least && taken.count() >= rounds.seconds) break;
    for (size_t turn = 0; turn < sides.size(); ++turn) {
      const size_t side = (turn + static_cast<size_t>(round)) % sides.size();
      times[side].push_back(sides[side](round));
    }
  }
  return times;
}

std::vector<double> ratios_of(const std::vector<double>& seconds, const std::vector<double>& by) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(seconds.size(), by.size()); ++i) {
    ratios.push_back(seconds[i] / by[i]);
  }
  return ratios;
}

}  // namespace luminal::bench
