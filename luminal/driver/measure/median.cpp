#include "luminal/driver/measure/median.h"

#include <algorithm>
#include <cmath>

#include "luminal/base/check.h"

namespace luminal {

// By order statistics: the number of samples below the median is binomial with p = 1/2.
Median median_of(std::vector<double> samples) {
  LUMINAL_CHECK(!samples.empty(), "the median needs at least one sample");
  std::ranges::sort(samples);
  const auto n = static_cast<double>(samples.size());
  const double reach = 1.96 * std::sqrt(n) / 2;
  const auto low = static_cast<int64_t>(std::floor(n / 2 - reach)) - 1;
  const auto high = static_cast<int64_t>(std::ceil(n / 2 + reach));
  const auto last = static_cast<int64_t>(samples.size()) - 1;
  const auto at = [&](int64_t i) {
    return samples[static_cast<size_t>(std::clamp<int64_t>(i, 0, last))];
  };
  const int64_t middle = last / 2;
  const double value = samples.size() % 2 == 1 ? at(middle) : (at(middle) + at(middle + 1)) / 2;
  return {.value = value, .low = at(low), .high = at(high)};
}

}  // namespace luminal
