// A ratio as answers have it.
#pragma once

#include <cmath>
#include <vector>

#include "apps/bench/harness/protocol.h"
#include "apps/bench/harness/statistics.h"

namespace luminal::bench {

// {"ratio": the median over rounds, "low": …, "high": …, "rounds": …}. Too few rounds for the
// confidence give no upper bound: null.
inline Json ratio_json(const std::vector<double>& ratios, double confidence) {
  const Interval interval = median_interval(ratios, confidence);
  return {{"ratio", median(ratios)},
          {"low", interval.low},
          {"high", std::isfinite(interval.high) ? Json(interval.high) : Json()},
          {"rounds", ratios.size()}};
}

}  // namespace luminal::bench
