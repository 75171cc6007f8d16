// The phases of planning, from a graph to a plan: the one place that runs them. compile(), explain,
// debug-ops, view and tests differ in how far they go and in what they look at on the way.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "luminal/search/cuts/find_plan.h"
#include "luminal/search/pipeline/planning_options.h"
#include "luminal/search/rolling/roll_graph.h"
#include "luminal/search/terms/choose_terms.h"
#include "luminal/search/terms/extract_terms.h"

namespace luminal::search {

enum class Phase : uint8_t {
  Terms,      // the graph as terms of an e-graph
  Saturated,  // what rules find equal to them
  Extracted,  // the terms that kernels compute, and the chosen one of each class
  Asked,      // the plan request: what must be stored, and what was decided before
  Planned,    // which values are stored, and the kernels
};

// What is planned. All of it must outlive the phases.
struct PhaseInput {
  const Graph& graph;  // rolled, where loops are
  const std::vector<NodeId>& roots;
  const PlanningOptions& options;
  const RolledGraph* rolled = nullptr;
};

// What each phase leaves for those after it.
struct PhaseResults {
  std::unique_ptr<Terms> terms;
  LoweredGraph lowered;
  egraph::RunReport saturation;
  ExtractedTerms extracted;
  PlanLoops loops;
  ChosenTerms chosen;
  PlanRequest request;
  FoundPlan found;
  std::optional<Phase> done;  // the last one that ended
};

// Runs those phases up to `last` that haven't been run. An error leaves the results of the phases
// before it.
void run_phases(Phase last, const PhaseInput& input, PhaseResults& results);

}  // namespace luminal::search
