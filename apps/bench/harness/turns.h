// Sides that take turns: each round times all of them, so that other load on the machine affects
// all alike; and their ratios.
#pragma once

#include <functional>
#include <vector>

namespace luminal::bench {

// Seconds, by side and round.
using TurnTimes = std::vector<std::vector<double>>;

struct Rounds {
  int least = 1;
  int most = 1;
  double seconds = 0;  // of all rounds, between `least` and `most`
};

// A side times itself once per round and returns the seconds; the side that starts changes from
// round to round.
TurnTimes take_turns(const std::vector<std::function<double(int round)>>& sides,
                     const Rounds& rounds);

// Seconds of one side divided by those of another, round by round.
std::vector<double> ratios_of(const std::vector<double>& seconds, const std::vector<double>& by);

}  // namespace luminal::bench
