// plan_loops: which classes of a rolled graph's terms are computed in which loop.
#pragma once

#include "luminal/search/cuts/find_plan.h"
#include "luminal/search/rolling/roll_graph.h"
#include "luminal/search/terms/extract_terms.h"

namespace luminal::search {

// A loop-invariant class is outside of the loop, whatever reads it. Terms that would compute it
// inside are dropped from `terms`, and so are those that mix loops: afterwards everything that a
// class reads is outside or in its own loop.
PlanLoops plan_loops(const RolledGraph& rolled, const LoweredGraph& lowered, ExtractedTerms& terms);

}  // namespace luminal::search
