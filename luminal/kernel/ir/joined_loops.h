// JoinedLoops: two loops as one, the way [8, 128] rows in memory order are 1024 rows.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "luminal/shape/expr.h"

namespace luminal::kernel {

class JoinedLoops {
 public:
  // Of loops with these extents, `outer` and `inner` become one, which has inner's number.
  JoinedLoops(std::span<const Expr> extents, int outer, int inner);

  Expr extent() const { return extent_; }
  // An expression over the joined loop; none where it needs the indices of the two apart.
  std::optional<Expr> over(Expr e) const;

 private:
  Expr extent_, quotient_, remainder_;
  std::vector<Expr> replacement_;
};

}  // namespace luminal::kernel
