// The median of measurements with its 95 % confidence interval, for any distribution: measurements
// on a busy machine follow no known one.
#pragma once

#include <vector>

namespace luminal {

struct Median {
  double value = 0;
  double low = 0, high = 0;
};

// Needs at least one sample. With fewer than six, the interval is their whole range, which holds
// the median less often.
Median median_of(std::vector<double> samples);

}  // namespace luminal
