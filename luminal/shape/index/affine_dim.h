// AffineDim: a dim that gives the value of its only variable.
#pragma once

#include <cstdint>
#include <optional>

#include "luminal/shape/expr.h"

namespace luminal {

// scale · variable + offset, with scale > 0.
struct AffineDim {
  Expr variable;
  int64_t scale = 1;
  int64_t offset = 0;

  // The value of the variable where the dim is `size`; none if no integer gives it.
  std::optional<int64_t> solve(int64_t size) const;
};

// None for a constant, and for a dim of another form.
std::optional<AffineDim> affine_dim(Expr dim);

}  // namespace luminal
