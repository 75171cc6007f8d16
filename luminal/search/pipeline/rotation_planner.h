// RotationPlanner: one way to plan a graph, stage by stage: as it is, or with loops of it rolled.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "luminal/search/pipeline/phases.h"
#include "luminal/search/rolling/roll_graph.h"
#include "luminal/search/rolling/unroll_plan.h"

namespace luminal::search {

// Input of a search for a better plan: the terms, and the graph that they belong to.
struct SearchedTerms {
  const Graph& graph;  // rolled, where loops are
  const std::vector<NodeId>& roots;
  const RolledGraph* rolled;  // null where nothing is
  const PlannedTerms& terms;  // without a plan
  const PlanRequest& request;
  const SearchOptions& options;
  // Turns a plan of these terms into one of the whole graph; fails as unroll_plan() does.
  std::function<Result<PlannedTerms>(const kernel::Plan&)> whole;
};

// A plan that is better than find_plan()'s, and the costs it was found with.
struct BetterPlan {
  FoundPlan found;
  std::shared_ptr<const KnownCosts> costs;  // for explanations; null: the model's
};
using FindBetter = std::function<BetterPlan(const SearchedTerms&, const FoundPlan&)>;

class RotationPlanner {
 public:
  // All of it must outlive the planner. No loops: the graph as it is.
  RotationPlanner(const Graph& graph, const std::vector<NodeId>& roots,
                  const PlanningOptions& options, const std::vector<Loop>& loops);

  // The stages, each after the one before it.
  void lower();
  void saturate();
  void search();
  // The plan of the graph itself, by `better` if given, and the explanations that are wanted.
  void finish(Explained explained, const FindBetter& better = nullptr);

  const RolledGraph* rolled() const { return rolled_ ? &*rolled_ : nullptr; }
  Terms& terms() { return *results_.terms; }
  const egraph::RunReport& saturation() const { return results_.saturation; }
  const SearchReport& report() const { return report_; }
  double search_seconds() const { return search_seconds_; }  // wall clock
  double model_seconds() const { return results_.found.plan.model_seconds; }
  PlannedTerms& planned() { return planned_; }  // of the graph itself, unrolled

 private:
  // What is planned: the rolled graph where there is one.
  PhaseInput input() const;
  Result<PlannedTerms> whole(const kernel::Plan& plan) const;
  // Returns the costs that the better plan was found with.
  std::shared_ptr<const KnownCosts> improve(const FindBetter& better);
  void plan_as_it_is(const std::string& why);

  const Graph& graph_;
  const std::vector<NodeId>& roots_;
  const PlanningOptions& options_;
  std::optional<RolledGraph> rolled_;
  PhaseResults results_;  // except the extracted terms, which search() moves out
  SearchReport report_;
  double search_seconds_ = 0;
  PlannedTerms searched_;  // without a plan
  PlannedTerms planned_;
};

// One for each rotation that find_loops() offers; the graph as it is where nothing is rolled.
std::vector<RotationPlanner> rotation_planners(const Graph& graph, const std::vector<NodeId>& roots,
                                               const PlanningOptions& options);

}  // namespace luminal::search
