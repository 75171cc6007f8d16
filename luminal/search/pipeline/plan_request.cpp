#include "luminal/search/pipeline/plan_request.h"

namespace luminal::search {
namespace {

std::vector<kernel::ClassId> operands_of(const Graph& graph, NodeId node,
                                         const ExtractedTerms& extracted) {
  std::vector<kernel::ClassId> operands;
  for (NodeId input : graph.node(node).inputs) {
    operands.push_back(extracted.class_of[input.index()]);
  }
  return operands;
}

// By source: whether the plan needs it. What a host step reads is only needed where the step is.
IdVector<kernel::SourceId, bool> needed_sources(const Graph& graph, const LoweredGraph& lowered,
                                                const ExtractedTerms& extracted,
                                                const ChosenTerms& chosen,
                                                std::vector<kernel::ClassId> roots) {
  IdVector<kernel::SourceId, bool> needed(lowered.sources.size());
  bool changed = true;
  while (changed) {
    changed = false;
    const std::vector<bool> reached = reachable(extracted.graph, chosen, roots);
    for (size_t i = 0; i < reached.size(); ++i) {
      if (!reached[i]) continue;
      const auto& term = extracted.graph.classes[i].terms[static_cast<size_t>(chosen.term[i])];
      const auto* load = std::get_if<kernel::LoadTerm>(&term);
      if (load == nullptr || needed[load->source]) continue;
      const kernel::SourceId source = load->source;
      needed[source] = true;
      if (!lowered.sources[source].host_step) continue;
      const auto operands = operands_of(graph, lowered.sources[source].node, extracted);
      roots.insert(roots.end(), operands.begin(), operands.end());
      changed = true;
    }
  }
  return needed;
}

}  // namespace

PlanRequest plan_request(const Graph& graph, const LoweredGraph& lowered,
                         const ExtractedTerms& extracted, const ChosenTerms& chosen) {
  PlanRequest request;
  for (NodeId id : lowered.stored) request.stored.push_back(extracted.class_of[id.index()]);
  for (NodeId id : lowered.materialized) {
    request.boundaries.push_back(extracted.class_of[id.index()]);
  }
  const IdVector<kernel::SourceId, bool> needed =
      needed_sources(graph, lowered, extracted, chosen, request.stored);
  for (kernel::SourceId s : lowered.sources.ids()) {
    if (!lowered.sources[s].host_step) continue;
    if (!needed[s]) {
      request.absent.push_back(s);
      continue;
    }
    request.host_steps.push_back({s, operands_of(graph, lowered.sources[s].node, extracted)});
  }
  return request;
}

}  // namespace luminal::search
