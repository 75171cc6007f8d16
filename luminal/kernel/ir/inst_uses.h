// What an instruction of a stage uses, including everything it transitively reads.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

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
