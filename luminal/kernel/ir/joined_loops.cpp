#include "luminal/kernel/ir/joined_loops.h"

#include <algorithm>

namespace luminal::kernel {
namespace {

bool contains(Expr e, Expr part) {
  if (e == part) return true;
  return std::ranges::any_of(e.operands(), [&](Expr x) { return contains(x, part); });
}

}  // namespace

JoinedLoops::JoinedLoops(std::span<const Expr> extents, int outer, int inner) {
  const Expr inner_extent = extents[static_cast<size_t>(inner)];
  extent_ = extents[static_cast<size_t>(outer)] * inner_extent;
  const Expr joined = Expr::index(inner, extent_);
  quotient_ = joined / inner_extent;
  remainder_ = joined % inner_extent;
  for (size_t loop = 0; loop < extents.size(); ++loop) {
    replacement_.push_back(Expr::index(static_cast<int>(loop), extents[loop]));
  }
  replacement_[static_cast<size_t>(outer)] = quotient_;
  replacement_[static_cast<size_t>(inner)] = remainder_;
}

std::optional<Expr> JoinedLoops::over(Expr e) const {
  const Expr result = e.substitute_indices(replacement_);
  if (contains(result, quotient_) || contains(result, remainder_)) return std::nullopt;
  return result;
}

}  // namespace luminal::kernel
