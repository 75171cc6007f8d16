// How large an expression is.
#pragma once

#include <cstdint>

#include "luminal/shape/expr.h"

namespace luminal::shape {

// Its nodes, written out as a tree; saturating.
uint32_t tree_size(Expr e);

}  // namespace luminal::shape
