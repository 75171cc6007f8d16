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

// Which explanations of a plan are wanted.
struct Explained {
  bool stored = false;    // why values are in memory
  bool absorbed = false;  // what storing others would cost; takes about as long as the search
};

// A plan, with everything about its search that later phases need.
struct PlannedTerms {
  IdVector<kernel::SourceId, SourceTensor> sources;
  ExtractedTerms extracted;
  std::vector<int> chosen;  // by class: the term that computes it
  std::vector<HostNeed> host_steps;
  kernel::Plan plan;
  std::optional<std::vector<StoredValue>> stored;  // where that was asked for
  std::vector<AbsorbedValue> absorbed;             // likewise
};

// Repeats the kernels of a loop for every trip, each reading and storing that trip's values;
// instead of a marker, the value that it stands for is read. Steps that nothing needs are left out.
// Fails for a plan that only makes sense rolled: rules may prove that a value inside equals one
// behind the loop, and the search then computes the former from the latter.
Result<PlannedTerms> unroll_plan(const Graph& graph, const std::vector<NodeId>& roots,
                                 const RolledGraph& rolled, const PlanLoops& loops,
                                 const PlannedTerms& of_rolled);

}  // namespace luminal::search
