// Times of rivals that run in turns, and what their ratio is: on a machine whose speed changes from
// moment to moment, only what ran in the same moment can be compared.
#pragma once

#include <functional>
#include <vector>

namespace luminal {

// By rival and round: seconds of one run.
using PairedTimes = std::vector<std::vector<double>>;

// Rounds until `seconds` are over; at least seven, at most 301. In each every rival has three turns
// of at least a fifth of a millisecond, in changing order, of which the fastest counts: what else
// the machine does only ever adds time. One turn where single runs are long. All run twice before.
PairedTimes paired_times(const std::vector<std::function<void()>>& rivals, double seconds);

// A median and the interval that holds it with at least 95 %, by order statistics: whatever the
// distribution of the noise.
struct MedianInterval {
  double median = 1;
  double low = 1;
  double high = 1;
};
MedianInterval median_interval(std::vector<double> values);

// Of one rival's times by another's, round by round.
MedianInterval ratio_of(const std::vector<double>& times, const std::vector<double>& by);

}  // namespace luminal
