// TermMoves: the moves by which a value is computed by another of its terms. What only that term
// needs has no cuts yet, so a move sets some: without them, a product that the term reads would be
// computed again for each of its readers' elements.
#pragma once

#include <vector>

#include "luminal/search/cuts/plan_state.h"

namespace luminal::search {

class TermMoves {
 public:
  TermMoves(const kernel::TermGraph& graph, const PlanCost& cost, const PlanState& state,
            TermFlip flip);

  Move alone() const { return {{}, {flip_}}; }
  Move all_stored() const { return {new_, {flip_}}; }
  // The distinct ones: alone; with everything stored, its sums, or what the term itself reads; each
  // with the cut of the value as it is, or toggled.
  std::vector<Move> each() const;

 private:
  TermFlip flip_;
  bool toggles_;                           // whether the value may be stored or not
  std::vector<kernel::ClassId> new_;       // what no kernel of the plan computes, and may be stored
  std::vector<kernel::ClassId> new_sums_;  // of those: reductions and scans
  std::vector<kernel::ClassId> nearest_;   // of those: what the term reads, through views
};

}  // namespace luminal::search
