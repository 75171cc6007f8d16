// From a graph to a plan, without a backend: what tests of terms, lowering and search start from.
#pragma once

#include <memory>

#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"
#include "luminal/search/extract_terms.h"
#include "luminal/search/find_plan.h"
#include "luminal/search/lower_graph.h"
#include "luminal/search/plan_request.h"
#include "luminal/search/saturate.h"
#include "luminal/search/terms.h"

namespace luminal::search {

struct Planned {
  std::unique_ptr<Terms> terms = std::make_unique<Terms>();
  LoweredGraph lowered;
  egraph::RunReport saturation;
  ExtractedTerms extracted;
  PlanRequest request;
  SearchOptions options;
};

// Everything before the search.
inline Planned prepare(const Graph& graph, Fusion fusion = Fusion::Modelled) {
  Planned planned;
  const std::vector<NodeId> needed = roots(graph);
  planned.lowered = lower_graph(graph, needed, *planned.terms);
  planned.saturation = saturate(*planned.terms);
  planned.extracted = extract_terms(graph, planned.lowered, *planned.terms);
  planned.options.fusion = fusion;
  planned.options.sizes = representative_sizes(variables(graph), {});
  const ChosenTerms chosen = choose_terms(planned.extracted.graph, planned.options.sizes);
  planned.request = plan_request(graph, planned.lowered, planned.extracted, chosen);
  return planned;
}

inline FoundPlan plan(const Graph& graph, Fusion fusion = Fusion::Modelled) {
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
