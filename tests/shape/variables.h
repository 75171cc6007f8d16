// Variables that tests of expressions share.
#pragma once

#include "luminal/shape/expr.h"

namespace luminal {

inline Expr s() { return Expr::var("s"); }
inline Expr t() { return Expr::var("t"); }

}  // namespace luminal
