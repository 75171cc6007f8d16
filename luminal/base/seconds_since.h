// Elapsed time, by the clock that measurements use.
#pragma once

#include <chrono>

namespace luminal::base {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace luminal::base
