// order_steps: an order of a plan's steps that needs less memory than the given one, if one is
// found.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace luminal::runtime {

// The dependencies and buffers of a step. Buffers are numbered by the caller.
struct StepNeeds {
  std::vector<int> after;   // steps that must come before it
  std::vector<int> reads;   // buffers
  std::vector<int> writes;  // buffers, each written by one step
};

// Peak of live bytes over the steps of `order`. A buffer that no step reads lives for one step.
size_t peak_of_order(std::span<const StepNeeds> steps, std::span<const size_t> buffer_bytes,
                     std::span<const int> order);

// The order in which to run the steps: by number as far as `after` allows, unless a greedy order
// that minimises live bytes has a lower peak.
std::vector<int> order_steps(std::span<const StepNeeds> steps,
                             std::span<const size_t> buffer_bytes);

// Groups consecutive independent steps of `order` into launches, whose steps run in parallel.
// Returns the launch of each position in `order`, counted from 0. A launch takes up to eight steps
// while the peak doesn't rise; a step with `alone` set is a launch of its own.
std::vector<int> group_steps(std::span<const StepNeeds> steps, std::span<const size_t> buffer_bytes,
                             std::span<const int> order, const std::vector<bool>& alone);

}  // namespace luminal::runtime
