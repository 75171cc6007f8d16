// From a graph to a plan, without a backend: what tests of terms, lowering and search start from.
#pragma once

#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"
#include "luminal/search/pipeline/phases.h"

namespace luminal::search {

struct Planned : PhaseResults {
  SearchOptions options;
};

// Everything before the search.
inline Planned prepare(const Graph& graph, FusionPolicy fusion = FusionPolicy::Modelled) {
  PlanningOptions planning;
  planning.search.fusion = fusion;
  planning.search.sizes = representative_sizes(variables(graph), {});
  const std::vector<NodeId> needed = roots(graph);
  Planned planned;
  run_phases(Phase::Asked, {graph, needed, planning}, planned);
  planned.options = planning.search;
  return planned;
}

inline FoundPlan plan(const Graph& graph, FusionPolicy fusion = FusionPolicy::Modelled) {
  Planned planned = prepare(graph, fusion);
  return find_plan(planned.extracted.graph, planned.request, planned.options);
}

// The canonical text of every kernel, in order.
inline std::string text_of(const FoundPlan& found) {
  std::string out;
  for (const auto& step : found.plan.steps) {
    if (const auto* kernel = std::get_if<kernel::KernelStep>(&step)) {
      out += kernel::text(kernel->lowered.kernel);
    }
  }
  return out;
}

}  // namespace luminal::search
