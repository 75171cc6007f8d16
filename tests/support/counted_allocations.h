// Counts allocations by standing in for malloc: a program that links counted_allocations.cpp
// counts. Not for sanitizers, which stand in for it too.
#pragma once

#include <cstdint>

namespace luminal::tests {

struct Allocations {
  int64_t count = 0;
  int64_t bytes = 0;
};

// Those of all threads between the two calls.
void start_counting_allocations();
Allocations stop_counting_allocations();

}  // namespace luminal::tests
