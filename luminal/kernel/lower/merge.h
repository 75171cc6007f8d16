// Merging: fuses two kernels over the same outer loops into one launch with several outputs. Inputs
// of both are read while they are in cache, and the second reads results of the first from local
// buffers.
#pragma once

#include "luminal/base/result.h"
#include "luminal/kernel/lower/stage.h"

namespace luminal::kernel {

// The stages of `first`, then those of `second`, at each outer point; both must have the same outer
// loops. `second` may read what `first` stores, but only at the same outer point: it then reads the
// local value. Identical local stages are computed once. A failure is a reason, not an error.
Result<LoweredKernel> merge(const LoweredKernel& first, const LoweredKernel& second,
                            const StageLimits& limits = {});

}  // namespace luminal::kernel
