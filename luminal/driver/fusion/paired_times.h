// Times of rivals that run alternately, and their ratio: on a machine whose speed changes from
// moment to moment, only runs of the same moment can be compared.
#pragma once

#include <functional>
#include <vector>

namespace luminal {

// By rival and round: seconds of one run.
using PairedTimes = std::vector<std::vector<double>>;

// Runs rounds until `seconds` are over; at least seven, at most 301. In each, every rival has three
// turns of at least 0.2 ms, in changing order, of which the fastest counts: other load only ever
// adds time. One turn if single runs are long. Two warm-up runs each.
PairedTimes paired_times(const std::vector<std::function<void()>>& rivals, double seconds);

// A median and its confidence interval of at least 95 %, by order statistics: it holds for any
// distribution of the noise.
struct MedianInterval {
  double median = 1;
  double low = 1;
  double high = 1;
};
MedianInterval median_interval(std::vector<double> values);

// The ratio of one rival's times to another's, round by round.
MedianInterval ratio_of(const std::vector<double>& times, const std::vector<double>& by);

}  // namespace luminal
