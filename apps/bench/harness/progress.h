// Progress: how far a benchmark is, for whoever shows it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace luminal::bench {

struct Moment {
  std::string stage;  // "peaks", "cases": what `done` and `total` count is the same all along it
  std::string now;    // what is being measured: "softmax/l3/f32/cpu/t2"
  int64_t done = 0;   // of `total`
  int64_t total = 0;  // 0: not known
};

// Called often.
using Progress = std::function<void(const Moment&)>;

}  // namespace luminal::bench
