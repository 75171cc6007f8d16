// force_fusion: adds the fusion decisions that were made before the search to the plan request.
#pragma once

#include <string>
#include <vector>

#include "luminal/search/cuts/find_plan.h"
#include "luminal/search/rolling/roll_graph.h"
#include "luminal/search/terms/extract_terms.h"

namespace luminal::search {

// `rolled` is null if the request is of the graph itself.
void force_fusion(const std::vector<FusionForce>& forces, const RolledGraph* rolled,
                  const ExtractedTerms& extracted, PlanRequest& request);

// A line per decision that the plan couldn't follow, with the reason, in the graph's names.
std::vector<std::string> notes_on_fusion(const Graph& graph, const std::vector<FusionForce>& forces,
                                         const RolledGraph* rolled, const ExtractedTerms& extracted,
                                         const FoundPlan& found);

}  // namespace luminal::search
