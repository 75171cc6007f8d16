// The median of measurements, with the interval that holds it with 95 % probability, whatever their
// distribution: measurements on a busy machine have none that one could name.
#pragma once

#include <vector>

namespace luminal {

struct Median {
  double value = 0;
  double low = 0, high = 0;
};

// At least one sample. Of fewer than six the interval is all of them, and holds it less often.
Median median_of(std::vector<double> samples);

}  // namespace luminal
