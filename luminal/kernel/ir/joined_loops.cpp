#include "luminal/kernel/ir/joined_loops.h"

#include <algorithm>

namespace luminal::kernel {
namespace {

bool contains(Expr e, Expr part) {
  if (e == part) return true;
  return std::ranges::any_of(e.operands(), [&](Expr x) { return contains(x, part); });
}

}  // namespace

JoinedLoops::JoinedLoops(const IdVector<LoopId, Expr>& extents, LoopId outer, LoopId inner) {
  const Expr inner_extent = extents[inner];
  extent_ = extents[outer] * inner_extent;
  const Expr joined = index_of(inner, extent_);
  quotient_ = joined / inner_extent;
  remainder_ = joined % inner_extent;
  for (LoopId loop : extents.ids()) replacement_.push_back(index_of(loop, extents[loop]));
  replacement_[outer] = quotient_;
  replacement_[inner] = remainder_;
}

std::optional<Expr> JoinedLoops::over(Expr e) const {
  const Expr result = e.substitute_indices(replacement_.items());
  if (contains(result, quotient_) || contains(result, remainder_)) return std::nullopt;
  return result;
}

}  // namespace luminal::kernel
