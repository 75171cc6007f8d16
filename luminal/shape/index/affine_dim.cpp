#include "luminal/shape/index/affine_dim.h"

namespace luminal {

std::optional<int64_t> AffineDim::solve(int64_t size) const {
  int64_t scaled = 0;
  if (__builtin_sub_overflow(size, offset, &scaled) || scaled % scale != 0) return std::nullopt;
  return scaled / scale;
}

std::optional<AffineDim> affine_dim(Expr dim) {
  if (dim.kind() == ExprKind::Var) return AffineDim{.variable = dim};
  if (dim.kind() != ExprKind::Sum || dim.operands().size() != 1) return std::nullopt;
  const Expr variable = dim.operands()[0];
  const int64_t scale = dim.coefficients()[0];
  if (variable.kind() != ExprKind::Var || scale <= 0) return std::nullopt;
  return AffineDim{.variable = variable, .scale = scale, .offset = dim.constant_term()};
}

}  // namespace luminal
