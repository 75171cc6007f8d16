// The size of an expression.
#pragma once

#include <cstdint>

#include "luminal/shape/expr.h"

namespace luminal::shape {

// Number of nodes of the expression as a tree, shared ones counted repeatedly; saturating.
uint32_t tree_size(Expr e);

}  // namespace luminal::shape
