// Chooses which kernels of a plan oneDNN computes instead of compiled code.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "luminal/backends/backend.h"
#include "luminal/backends/cpu/llvm/jit.h"

namespace luminal::backends::cpu {

// See Backend::choose_library. LibraryPolicy::Measured times each distinct product both ways, on
// random data at the typical sizes, for at most about a third of a second unless a single run takes
// longer; the library must be clearly faster. `compile` compiles a kernel of `packed`.
std::vector<kernel::LibraryChoice> choose_library(
    const LoadRequest& request, const kernel::PlannedGraph& packed,
    const std::function<std::shared_ptr<const CompiledKernel>(const kernel::Kernel&)>& compile);

}  // namespace luminal::backends::cpu
