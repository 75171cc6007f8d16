// The work of a kernel: bytes, flops and local memory, as expressions over its variables.
#pragma once

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

// Fills in what follows from loops, stages and parameters: variables, forms (forms.h), bytes,
// flops, local bytes.
void finish(Kernel& kernel);

}  // namespace luminal::kernel
