// unroll_plan: from the plan of a rolled graph to the plan of the graph itself.
#pragma once

#include <optional>
#include <vector>

#include "luminal/base/result.h"
#include "luminal/search/cuts/explain_plan.h"
#include "luminal/search/cuts/find_plan.h"
#include "luminal/search/rolling/roll_graph.h"
#include "luminal/search/terms/extract_terms.h"

namespace luminal::search {

// What is to be known of a plan beside itself.
struct Explained {
  bool stored = false;    // why values are in memory
  bool absorbed = false;  // what storing others would cost; takes about as long as the search
};

// A plan and all that it was found by that anything later asks for.
struct PlannedTerms {
  std::vector<SourceTensor> sources;  // by the number in a Load
  ExtractedTerms extracted;
  std::vector<int> chosen;  // by class: the term that computes it
  std::vector<HostNeed> host_steps;
  kernel::Plan plan;
  std::optional<std::vector<StoredValue>> stored;  // where that was asked for
  std::vector<AbsorbedValue> absorbed;             // likewise
};

// The kernels of a loop once for every trip, each under the names of what it reads and stores
// there: what a marker stood for is read where it lies. Steps that nothing needs are left out. A
// failure is a plan that only makes sense rolled: rules may prove of a value inside that it equals
// one behind the loop, and the search then computes the former by the latter.
Result<PlannedTerms> unroll_plan(const Graph& graph, const std::vector<NodeId>& roots,
                                 const RolledGraph& rolled, const PlanLoops& loops,
                                 const PlannedTerms& of_rolled);

}  // namespace luminal::search
