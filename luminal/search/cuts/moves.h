// Moves: what the local search may change next in a plan.
#pragma once

#include <vector>

#include "luminal/search/cuts/plan_state.h"

namespace luminal::search {

class Moves {
 public:
  // Both must outlive it.
  Moves(const kernel::TermGraph& graph, const PlanCost& cost);

  // Toggle a cut; fuse all that a kernel reads into it; fuse a kernel and a reduction that it
  // reads, such as attention's weights and scores, where either alone may only cost; slide a cut to
  // an operand; compute a value by another term, and store what only that needs, or its sums, or
  // nothing of it. With `again`, also let one reader of a stored value compute it again.
  std::vector<Move> from(const PlanState& state, bool again) const;

  // Of a stored product that a reduction reads: fuse it, and store what lies behind the views of a
  // factor instead. For example, the concatenation that a convolution reads was fused into the
  // product. Fusing the product alone then gives a kernel of selects instead of a GEMM, and storing
  // the concatenation alone leaves the far larger product in memory.
  std::vector<Move> slides(const PlanState& state, kernel::ClassId product) const;

  bool is_reduction(kernel::ClassId id) const;
  // What a term of a class reads.
  std::vector<kernel::ClassId> reads(const TermFlip& flip) const;

 private:
  kernel::ClassId behind_views(kernel::ClassId id, const PlanState& state) const;

  const kernel::TermGraph& graph_;
  const PlanCost& cost_;
  std::vector<bool> is_reduced_;  // by class: a reduction reads it
};

}  // namespace luminal::search
