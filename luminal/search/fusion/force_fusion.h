// force_fusion: what was decided about values before the search, as part of what a plan is asked
// for.
#pragma once

#include <string>
#include <vector>

#include "luminal/search/cuts/find_plan.h"
#include "luminal/search/rolling/roll_graph.h"
#include "luminal/search/terms/extract_terms.h"

namespace luminal::search {

// Adds decisions to a request. `rolled` is null where the request is of the graph itself.
void force_fusion(const std::vector<FusionForce>& forces, const RolledGraph* rolled,
                  const ExtractedTerms& extracted, PlanRequest& request);

// What a plan could not do of them, and why: a line for each, with the graph's names.
std::vector<std::string> notes_on_fusion(const Graph& graph, const std::vector<FusionForce>& forces,
                                         const RolledGraph* rolled, const ExtractedTerms& extracted,
                                         const FoundPlan& found);

}  // namespace luminal::search
