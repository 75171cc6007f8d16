// PlanWay: one way to plan a graph, stage by stage: as it is, or with loops of it rolled.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "luminal/search/inspect/inspection.h"
#include "luminal/search/rolling/roll_graph.h"
#include "luminal/search/rolling/unroll_plan.h"

namespace luminal::search {

class PlanWay {
 public:
  // All of it must outlive the way. No loops: the graph as it is.
  PlanWay(const Graph& graph, const std::vector<NodeId>& roots, const InspectOptions& options,
          const std::vector<Loop>& loops);

  // The stages, each after the one before it.
  void lower();
  void saturate();
  void search(Explained explained);

  const RolledGraph* rolled() const { return rolled_ ? &*rolled_ : nullptr; }
  Terms& terms() { return *terms_; }
  const egraph::RunReport& saturation() const { return saturation_; }
  const SearchReport& report() const { return report_; }
  double search_seconds() const { return search_seconds_; }  // of the wall clock
  double model_seconds() const { return planned_.plan.model_seconds; }
  PlannedTerms& planned() { return planned_; }  // of the graph, whatever was rolled

 private:
  // What is lowered: the rolled graph where there is one.
  const Graph& lowered_graph() const { return rolled_ ? *rolled_->graph : graph_; }

  void plan_as_it_is(Explained explained, const std::string& why);

  const Graph& graph_;
  const std::vector<NodeId>& roots_;
  const InspectOptions& options_;
  std::optional<RolledGraph> rolled_;
  std::unique_ptr<Terms> terms_;
  LoweredGraph lowered_;
  egraph::RunReport saturation_;
  SearchReport report_;
  double search_seconds_ = 0;
  PlannedTerms planned_;
};

// One for each rotation that find_loops() offers; the graph as it is where nothing is rolled.
std::vector<PlanWay> plan_ways(const Graph& graph, const std::vector<NodeId>& roots,
                               const InspectOptions& options);

}  // namespace luminal::search
