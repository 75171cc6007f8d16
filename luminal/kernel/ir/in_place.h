// Which inputs of a kernel may lie in the memory of its outputs.
#pragma once

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

// Whether params[input] may lie where params[output] does: it has the same dims and width, and each
// outer point reads of it only what the same point writes, before it writes it. So in a stage that
// writes the output it is read at the very index that is written; in earlier stages, anywhere
// within the part of the output that belongs to the point; in later ones not at all.
bool may_share(const Kernel& kernel, int input, int output);

}  // namespace luminal::kernel
