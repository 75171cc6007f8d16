// The value of an expression at the sizes that costs are computed for.
#pragma once

#include <cstdint>

#include "luminal/shape/expr.h"

namespace luminal::search {

// Saturates at INT64_MAX; such a candidate loses anyway.
inline double value(Expr expr, const Bindings& sizes) {
  return static_cast<double>(expr.evaluate(sizes).value.value_or(INT64_MAX));
}

}  // namespace luminal::search
