#include "apps/inspect/view/plan_stages.h"

#include <algorithm>

#include "luminal/driver/plan/planning.h"
#include "luminal/graph/traverse.h"

namespace luminal::view {

PlanStages::PlanStages(std::shared_ptr<const Graph> graph, const CompileOptions& options,
                       size_t rotation)
    : graph_(std::move(graph)) {
  const search::PlanningOptions planning = planning_options(*graph_, options);
  const std::vector<NodeId> needed = roots(*graph_);
  const auto ways = search::find_loops(*graph_, needed, planning.roll, planning.search.sizes);
  if (!ways.empty()) {
    rolled_ = search::roll_graph(*graph_, needed, ways[std::min(rotation, ways.size() - 1)]);
  }
  const search::PhaseInput input{planned(), rolled_ ? rolled_->roots : needed, planning, rolled()};
  run_phases(search::Phase::Saturated, input, results_);
  facts_.emplace(planned(), results_.lowered, *results_.terms);
}

std::vector<size_t> rotations_of(const CompileReport& report) {
  std::vector<size_t> rotations;
  size_t taken = 0;
  for (const StageReport& stage : report.stages) {
    if (stage.name == "rolled") {
      taken = stage.rotation;
    } else if (stage.name == "plan") {
      rotations.push_back(taken);
      taken = 0;
    }
  }
  rotations.resize(report.plans.size());
  return rotations;
}

}  // namespace luminal::view
