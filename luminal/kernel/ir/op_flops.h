// What an element-wise op costs.
#pragma once

#include "luminal/graph/op.h"

namespace luminal::kernel {

// Ops that one evaluation of an element-wise op stands for in cost: transcendental ones are dear.
int flops_of(Op op);

}  // namespace luminal::kernel
