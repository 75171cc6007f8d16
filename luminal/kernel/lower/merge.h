// Merging: two kernels over the same outer points as one launch with several outputs. What both
// read is read while it is near, and what one stores the other takes before it leaves.
#pragma once

#include "luminal/base/result.h"
#include "luminal/kernel/lower/stage.h"

namespace luminal::kernel {

// The stages of `first`, then those of `second`, at each outer point; both have the same outer
// loops. `second` may read what `first` stores, at the same outer point alone: it then reads the
// local value. Local stages that are the same are computed once. Failure is a reason, not an error.
Result<LoweredKernel> merge(const LoweredKernel& first, const LoweredKernel& second,
                            const StageLimits& limits = {});

}  // namespace luminal::kernel
