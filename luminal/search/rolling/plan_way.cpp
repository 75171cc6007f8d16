#include "luminal/search/rolling/plan_way.h"

#include <chrono>

#include "luminal/base/check.h"
#include "luminal/base/seconds_since.h"
#include "luminal/search/choose_terms.h"
#include "luminal/search/fusion/force_fusion.h"
#include "luminal/search/plan_request.h"
#include "luminal/search/rolling/plan_loops.h"
#include "luminal/search/saturate.h"

namespace luminal::search {

using base::seconds_since;

PlanWay::PlanWay(const Graph& graph, const std::vector<NodeId>& roots,
                 const InspectOptions& options, const std::vector<Loop>& loops)
    : graph_(graph), roots_(roots), options_(options) {
  if (!loops.empty()) rolled_ = roll_graph(graph, roots, loops);
}

void PlanWay::lower() {
  terms_ = std::make_unique<Terms>(RuleSet(options_.rules));
  lowered_ = lower_graph(lowered_graph(), rolled_ ? rolled_->roots : roots_, *terms_);
}

void PlanWay::saturate() { saturation_ = search::saturate(*terms_, options_.admission); }

void PlanWay::search() {
  const auto start = std::chrono::steady_clock::now();
  searched_ = {};
  searched_.extracted = extract_terms(lowered_graph(), lowered_, *terms_);
  PlanLoops loops;
  if (rolled_) loops = plan_loops(*rolled_, lowered_, searched_.extracted);
  const ChosenTerms chosen = choose_terms(searched_.extracted.graph, options_.search.sizes);
  request_ = plan_request(lowered_graph(), lowered_, searched_.extracted, chosen);
  request_.loops = std::move(loops);
  force_fusion(options_.fusing, rolled(), searched_.extracted, request_);
  searched_.sources = lowered_.sources;
  searched_.chosen = chosen.term;
  searched_.host_steps = request_.host_steps;
  found_ = find_plan(searched_.extracted.graph, request_, options_.search);
  report_ = found_.report;
  search_seconds_ += seconds_since(start);
}

Result<PlannedTerms> PlanWay::whole(const kernel::Plan& plan) const {
  PlannedTerms terms = searched_;
  terms.plan = plan;
  if (!rolled_) return terms;
  return unroll_plan(graph_, roots_, *rolled_, request_.loops, terms);
}

// A search for a better plan begins with one that can be unrolled, and keeps to such.
std::shared_ptr<const KernelCosts> PlanWay::improve(const FindBetter& better) {
  if (rolled_) {
    if (const auto unrolled = whole(found_.plan); !unrolled) plan_as_it_is(unrolled.why());
  }
  BetterPlan plan = better({.graph = lowered_graph(),
                            .roots = rolled_ ? rolled_->roots : roots_,
                            .rolled = rolled(),
                            .terms = searched_,
                            .request = request_,
                            .options = options_.search,
                            .whole = [this](const kernel::Plan& p) { return whole(p); }},
                           found_);
  found_ = std::move(plan.found);
  return plan.costs;
}

void PlanWay::finish(Explained explained, const FindBetter& better) {
  const auto start = std::chrono::steady_clock::now();
  const std::shared_ptr<const KernelCosts> costs = better ? improve(better) : nullptr;
  SearchOptions options = options_.search;
  options.costs = costs.get();
  // What was found is explained as it was found.
  const kernel::TermGraph& terms = searched_.extracted.graph;
  if (explained.stored) {
    searched_.stored = explain_plan(terms, request_, options, found_.plan, found_.cut);
  }
  if (explained.absorbed) {
    searched_.absorbed = explain_absorbed(terms, request_, options, found_.plan, found_.cut);
  }
  const std::vector<std::string> unfused =
      notes_on_fusion(graph_, options_.fusing, rolled(), searched_.extracted, found_);
  searched_.plan = found_.plan;
  if (!rolled_) {
    planned_ = std::move(searched_);
  } else if (auto unrolled = unroll_plan(graph_, roots_, *rolled_, request_.loops, searched_)) {
    planned_ = std::move(*unrolled);
  } else {
    LUMINAL_CHECK(!better, "a plan that was unrolled before can't be now: " + unrolled.why());
    plan_as_it_is(unrolled.why());
    return finish(explained, nullptr);
  }
  report_.notes.insert(report_.notes.end(), unfused.begin(), unfused.end());
  search_seconds_ += seconds_since(start);
}

void PlanWay::plan_as_it_is(const std::string& why) {
  rolled_.reset();
  lower();
  saturate();
  search();
  report_.notes.push_back("loops were found but not rolled: unrolling the plan, " + why);
}

std::vector<PlanWay> plan_ways(const Graph& graph, const std::vector<NodeId>& roots,
                               const InspectOptions& options) {
  std::vector<PlanWay> ways;
  for (const std::vector<Loop>& loops :
       find_loops(graph, roots, options.roll, options.search.sizes)) {
    ways.emplace_back(graph, roots, options, loops);
  }
  if (ways.empty()) ways.emplace_back(graph, roots, options, std::vector<Loop>());
  return ways;
}

}  // namespace luminal::search
