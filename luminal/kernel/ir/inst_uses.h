// What an instruction of a stage uses, including everything it transitively reads.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

// What an element of an instruction costs, in additions (graph/ops.def): 0 for all but ops. In f64,
// functions aren't computed in registers but called for each element.
int64_t flops_of(const Inst& inst);

struct InstUses {
  std::set<LoopId> loops;
  int64_t flops = 0;
  bool loads = false;
  std::set<StageId> stages;  // whose local buffers are read
};

InstUses uses_of(const Kernel& kernel, const Stage& stage, InstId id);

// By position in the body: whether `id` is that instruction or transitively reads it.
std::vector<bool> needed_for(const Stage& stage, InstId id);

}  // namespace luminal::kernel
