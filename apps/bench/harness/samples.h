// Samples of a short function's time: each of as many runs as the clock needs, until all of them
// take long enough.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace luminal::bench {

struct Samples {
  std::vector<double> seconds;  // per run, in order
  int64_t runs_per_sample = 1;
};

// About fifty, which take `min_seconds` in total; fewer if runs are long. The first run isn't
// timed.
Samples take_samples(const std::function<void()>& run, double min_seconds);

}  // namespace luminal::bench
