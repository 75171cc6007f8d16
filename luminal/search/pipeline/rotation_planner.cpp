#include "luminal/search/pipeline/rotation_planner.h"

#include <chrono>

#include "luminal/base/check.h"
#include "luminal/base/seconds_since.h"
#include "luminal/search/fusion/force_fusion.h"

namespace luminal::search {

using base::seconds_since;

RotationPlanner::RotationPlanner(const Graph& graph, const std::vector<NodeId>& roots,
                                 const PlanningOptions& options, const std::vector<Loop>& loops)
    : graph_(graph), roots_(roots), options_(options) {
  if (!loops.empty()) rolled_ = roll_graph(graph, roots, loops);
}

PhaseInput RotationPlanner::input() const {
  if (!rolled_) return {graph_, roots_, options_};
  return {*rolled_->graph, rolled_->roots, options_, &*rolled_};
}

void RotationPlanner::lower() { run_phases(Phase::Terms, input(), results_); }

void RotationPlanner::saturate() { run_phases(Phase::Saturated, input(), results_); }

void RotationPlanner::search() {
  const auto start = std::chrono::steady_clock::now();
  run_phases(Phase::Planned, input(), results_);
  searched_ = {};
  searched_.extracted = std::move(results_.extracted);
  searched_.sources = results_.lowered.sources;
  searched_.chosen = results_.chosen.term;
  searched_.host_steps = results_.request.host_steps;
  report_ = results_.found.report;
  search_seconds_ += seconds_since(start);
}

Result<PlannedTerms> RotationPlanner::whole(const kernel::Plan& plan) const {
  PlannedTerms terms = searched_;
  terms.plan = plan;
  terms.chosen = plan.term;
  if (!rolled_) return terms;
  return unroll_plan(graph_, roots_, *rolled_, results_.request.loops, terms);
}

// A search for a better plan starts from one that can be unrolled, and accepts only such.
std::shared_ptr<const KnownCosts> RotationPlanner::improve(const FindBetter& better) {
  if (rolled_) {
    if (const auto unrolled = whole(results_.found.plan); !unrolled) plan_as_it_is(unrolled.why());
  }
  const PhaseInput planned = input();
  BetterPlan plan = better({.graph = planned.graph,
                            .roots = planned.roots,
                            .rolled = rolled(),
                            .terms = searched_,
                            .request = results_.request,
                            .options = options_.search,
                            .whole = [this](const kernel::Plan& p) { return whole(p); }},
                           results_.found);
  results_.found = std::move(plan.found);
  return plan.costs;
}

void RotationPlanner::finish(Explained explained, const FindBetter& better) {
  const auto start = std::chrono::steady_clock::now();
  const std::shared_ptr<const KnownCosts> costs = better ? improve(better) : nullptr;
  SearchOptions options = options_.search;
  options.costs = costs.get();
  // The plan is explained by the costs that it was found with.
  const kernel::TermGraph& terms = searched_.extracted.graph;
  if (explained.stored) {
    searched_.stored = explain_plan(terms, results_.request, options, results_.found);
  }
  if (explained.absorbed) {
    searched_.absorbed = explain_absorbed(terms, results_.request, options, results_.found);
  }
  const std::vector<std::string> unfused =
      notes_on_fusion(graph_, options_.fusing, rolled(), searched_.extracted, results_.found);
  searched_.plan = results_.found.plan;
  searched_.chosen = searched_.plan.term;
  if (!rolled_) {
    planned_ = std::move(searched_);
  } else if (auto unrolled =
                 unroll_plan(graph_, roots_, *rolled_, results_.request.loops, searched_)) {
    planned_ = std::move(*unrolled);
  } else {
    LUMINAL_CHECK(!better,
                  "a plan that could be unrolled before can't be unrolled now: " + unrolled.why());
    plan_as_it_is(unrolled.why());
    return finish(explained, nullptr);
  }
  report_.notes.insert(report_.notes.end(), unfused.begin(), unfused.end());
  search_seconds_ += seconds_since(start);
}

void RotationPlanner::plan_as_it_is(const std::string& why) {
  rolled_.reset();
  results_ = {};
  lower();
  saturate();
  search();
  report_.notes.push_back(
      "loops were found, but are not rolled, because the plan can't be unrolled: " + why);
}

std::vector<RotationPlanner> rotation_planners(const Graph& graph, const std::vector<NodeId>& roots,
                                               const PlanningOptions& options) {
  std::vector<RotationPlanner> planners;
  for (const std::vector<Loop>& loops :
       find_loops(graph, roots, options.roll, options.search.sizes)) {
    planners.emplace_back(graph, roots, options, loops);
  }
  if (planners.empty()) planners.emplace_back(graph, roots, options, std::vector<Loop>());
  return planners;
}

}  // namespace luminal::search
