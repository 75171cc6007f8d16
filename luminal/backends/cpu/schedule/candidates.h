// The ways in which this backend can run a kernel, for the measured search to try.
#pragma once

#include <vector>

#include "luminal/backends/cpu/target/target.h"
#include "luminal/kernel/plan/plan.h"

namespace luminal::backends::cpu {

// Choices besides the step's own, each of one knob or of another strategy, in the order of what
// they promise. Without `reorder_sums` only those that keep every bit of the results.
std::vector<kernel::StepChoice> candidates(const kernel::KernelStep& step, const Target& target,
                                           bool reorder_sums);

}  // namespace luminal::backends::cpu
