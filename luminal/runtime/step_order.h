// order_steps: an order of a plan's steps that needs less memory than the given one, if one is
// found.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace luminal::runtime {

// A step as far as order and memory go. Buffers are numbered by the caller.
struct StepNeeds {
  std::vector<int> after;   // steps that must come before it
  std::vector<int> reads;   // buffers
  std::vector<int> writes;  // buffers, each written by one step
};

// Bytes alive at once at the worst step of `order`. A buffer that no step reads lives for one step.
size_t peak_of_order(std::span<const StepNeeds> steps, std::span<const size_t> buffer_bytes,
                     std::span<const int> order);

// The steps' numbers in the order they should run: that of their numbers, as far as `after` allows,
// unless another needs less.
std::vector<int> order_steps(std::span<const StepNeeds> steps,
                             std::span<const size_t> buffer_bytes);

}  // namespace luminal::runtime
