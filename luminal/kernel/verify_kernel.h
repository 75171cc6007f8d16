// verify_kernel: whether a kernel is one: what it names is there, and types and ranks fit.
#pragma once

#include <string>

#include "luminal/kernel/kernel.h"

namespace luminal::kernel {

// Why it isn't one; empty where all is well. Not whether indices stay within their dims: that
// follows from the views they were made of.
std::string verify_kernel(const Kernel& kernel);

}  // namespace luminal::kernel
