// verify_kernel: whether a kernel is one: what it names is there, and types and ranks fit.
#pragma once

#include <string>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

// Why it isn't one; empty where all is well. Every index must be proved to stay inside its dim for
// all sizes: kernels that only the sizes of a run show to be safe (a slice that starts at a
// variable) are made anew in each process instead of read from files.
std::string verify_kernel(const Kernel& kernel);

}  // namespace luminal::kernel
