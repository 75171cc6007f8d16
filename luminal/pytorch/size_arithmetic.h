// Arithmetic of sizes where PyTorch's way of writing it is far from the simplest.
#pragma once

#include "luminal/shape/expr.h"

namespace luminal::pytorch {

// a % b. What is missing to the next multiple, -s % 4, is given as -s - -s // 4 * 4: added to s it
// is a multiple of 4, which the sum with a remainder isn't known to be.
Expr remainder(Expr a, Expr b);

}  // namespace luminal::pytorch
