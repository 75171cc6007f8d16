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

// Steps that follow one another in `order` and don't wait for each other may run side by side.
// Gives the launch of each position in `order`, counted from 0: as many steps in one as don't raise
// the peak, except those that must be `alone`, by step.
std::vector<int> group_steps(std::span<const StepNeeds> steps, std::span<const size_t> buffer_bytes,
                             std::span<const int> order, const std::vector<bool>& alone);

}  // namespace luminal::runtime
