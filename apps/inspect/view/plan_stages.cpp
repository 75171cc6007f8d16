#include "apps/inspect/view/plan_stages.h"

#include <algorithm>
#include <cstdlib>

#include "luminal/driver/planning.h"
#include "luminal/graph/traverse.h"
#include "luminal/search/saturate.h"

namespace luminal::view {

PlanStages::PlanStages(std::shared_ptr<const Graph> graph, const CompileOptions& options,
                       size_t rotation)
    : graph_(std::move(graph)) {
  const search::InspectOptions planning = planning_options(*graph_, options);
  const std::vector<NodeId> needed = roots(*graph_);
  const auto ways = search::find_loops(*graph_, needed, planning.roll, planning.search.sizes);
  if (!ways.empty()) {
    rolled_ = search::roll_graph(*graph_, needed, ways[std::min(rotation, ways.size() - 1)]);
  }
  terms_ = std::make_unique<search::Terms>(search::RuleSet(planning.rules));
  lowered_ = search::lower_graph(planned(), rolled_ ? rolled_->roots : needed, *terms_);
  search::saturate(*terms_, planning.admission);
  facts_.emplace(planned(), lowered_, *terms_);
}

std::vector<size_t> rotations_of(const CompileReport& report) {
  constexpr std::string_view kMark = ", rotation ";
  std::vector<size_t> rotations;
  size_t taken = 0;
  for (const StageReport& stage : report.stages) {
    if (stage.name == "rolled") {
      const size_t at = stage.summary.find(kMark);
      if (at != std::string::npos) {
        taken = std::strtoul(stage.summary.c_str() + at + kMark.size(), nullptr, 10) - 1;
      }
    } else if (stage.name == "plan") {
      rotations.push_back(taken);
      taken = 0;
    }
  }
  rotations.resize(report.plans.size());
  return rotations;
}

}  // namespace luminal::view
