// The cost of an element-wise op.
#pragma once

#include "luminal/graph/op.h"

namespace luminal::kernel {

// Cost in flops of one element-wise op; transcendentals are expensive.
int flops_of(Op op);

}  // namespace luminal::kernel
