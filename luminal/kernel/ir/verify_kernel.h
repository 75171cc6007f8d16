// verify_kernel: checks a kernel's invariants: ids exist, types and ranks match, indices are in
// bounds.
#pragma once

#include <string>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

// The reason why a kernel is invalid; empty if it is valid. Every index must be provably in bounds
// for all sizes: kernels that are safe only for the sizes of a run (a slice that starts at a
// variable) are lowered again in each process instead of read from files.
std::string verify_kernel(const Kernel& kernel);

}  // namespace luminal::kernel
