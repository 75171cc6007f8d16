// What a graph asks of its plan: the values that must be in memory, and the steps on the host.
#pragma once

#include "luminal/search/cuts/find_plan.h"
#include "luminal/search/terms/choose_terms.h"
#include "luminal/search/terms/extract_terms.h"
#include "luminal/search/terms/lower_graph.h"

namespace luminal::search {

// Host steps that rules replaced are left out, and so is what only they read.
PlanRequest plan_request(const Graph& graph, const LoweredGraph& lowered,
                         const ExtractedTerms& extracted, const ChosenTerms& chosen);

}  // namespace luminal::search
