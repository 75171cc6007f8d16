// Progress of a benchmark, for a callback that shows it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace luminal::bench {

struct Moment {
  std::string stage;  // "peaks", "cases": `done` and `total` count the same things throughout it
  std::string now;    // the current measurement: "softmax/l3/f32/cpu/t2"
  int64_t done = 0;   // of `total`
  int64_t total = 0;  // 0: unknown
};

// Called frequently.
using Progress = std::function<void(const Moment&)>;

}  // namespace luminal::bench
