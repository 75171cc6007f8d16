// Guarded loads: reads that a select drops where a condition on indices is false, as padding does.
//
// Views are total, so the view behind a pad wraps: a row of 28 padded by one on each side is
// select(1 ≤ i < 29, x[(i + 27) mod 28], 0). Lanes across the wrap have no pattern, and would be
// gathered one by one. Where the condition holds the index is i − 1: a masked vector load.
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

struct GuardedLoad {
  InstId guard;              // an iota of bool, before the load
  std::vector<Index> index;  // in bounds wherever the guard holds
};

// By instruction of the stage; none where it is no such load, or where its index doesn't wrap.
std::vector<std::optional<GuardedLoad>> guarded_loads(const Stage& stage);

}  // namespace luminal::kernel
