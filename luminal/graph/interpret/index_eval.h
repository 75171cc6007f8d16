// Index expressions over a block of elements.
#pragma once

#include "luminal/graph/interpret/lanes.h"
#include "luminal/shape/expr.h"

namespace luminal::interpret {

// out[j] = the value of `expr` at element j. `expr` must have no free variables. Division by zero
// gives 0, as on every backend (shape/expr.h).
void evaluate_index(Expr expr, const Indices& indices, int64_t* out, Scratch& scratch);

}  // namespace luminal::interpret
