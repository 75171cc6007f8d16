// The reference of what a kernel means: its loops run as they are written, by the graph
// interpreter's ops.
#pragma once

#include <cstddef>
#include <span>

#include "luminal/kernel/kernel.h"

namespace luminal::kernel {

// Runs the kernel over `params`, one per parameter, contiguous; outputs are written. Every variable
// is bound. Floats accumulate in f64 and round where the kernel says, so results differ from a
// compiled kernel's by the order of its sums and by its polynomials only.
void interpret_kernel(const Kernel& kernel, const Bindings& bindings,
                      std::span<std::byte* const> params);

}  // namespace luminal::kernel
