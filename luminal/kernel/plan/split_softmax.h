// SplitSoftmax: attention of a few queries over many keys as two kernels, so that all threads have
// part of the keys to look at, and those of a group of heads are read while they are near.
//
// The first computes for every range of keys, and for all rows that share them, the greatest score,
// the sum of weights and the weighted sum of values as if there were no other keys. The second puts
// the ranges together: what was weighted by a smaller greatest score counts for less. All ranges
// are about as long; how keys are split depends on their number alone, so the bits don't depend on
// the number of threads.
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

struct SplitSoftmax {
  Kernel ranges, together;
  // What the first leaves for the second: greatest scores, sums of weights, weighted sums.
  std::vector<Param> between;
  // By parameter of each: one of the kernel's, or, past those, one of `between`.
  std::vector<int> ranges_params, together_params;
};

// None where a kernel has no softmax over more keys than one range has, or too many rows share
// them: those have better ways (row_block_form.h).
std::optional<SplitSoftmax> split_softmax(const Kernel& kernel);

}  // namespace luminal::kernel
