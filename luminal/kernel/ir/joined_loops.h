// JoinedLoops: two nested loops collapsed into one, as [8, 128] rows in memory order are 1024 rows.
#pragma once

#include <optional>

#include "luminal/kernel/ir/loop_id.h"

namespace luminal::kernel {

class JoinedLoops {
 public:
  // Collapses the loops `outer` and `inner` of a nest with these extents; the new loop has inner's
  // number.
  JoinedLoops(const IdVector<LoopId, Expr>& extents, LoopId outer, LoopId inner);

  Expr extent() const { return extent_; }
  // `e` over the collapsed loop; nullopt if it needs the two indices separately.
  std::optional<Expr> over(Expr e) const;

 private:
  Expr extent_, quotient_, remainder_;
  IdVector<LoopId, Expr> replacement_;
};

}  // namespace luminal::kernel
