// Time that has passed, by the clock that measurements are made with.
#pragma once

#include <chrono>

namespace luminal::base {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace luminal::base
