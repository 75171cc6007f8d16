#include "luminal/search/rolling/plan_way.h"

#include <chrono>

#include "luminal/search/choose_terms.h"
#include "luminal/search/fusion/force_fusion.h"
#include "luminal/search/plan_request.h"
#include "luminal/search/rolling/plan_loops.h"
#include "luminal/search/saturate.h"

namespace luminal::search {

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

void PlanWay::search(Explained explained) {
  const auto start = std::chrono::steady_clock::now();
  PlannedTerms found;
  found.extracted = extract_terms(lowered_graph(), lowered_, *terms_);
  PlanLoops loops;
  if (rolled_) loops = plan_loops(*rolled_, lowered_, found.extracted);
  const ChosenTerms chosen = choose_terms(found.extracted.graph, options_.search.sizes);
  PlanRequest request = plan_request(lowered_graph(), lowered_, found.extracted, chosen);
  request.loops = loops;
  force_fusion(options_.fusing, rolled(), found.extracted, request);
  FoundPlan plan = find_plan(found.extracted.graph, request, options_.search);
  const std::vector<std::string> unfused =
      notes_on_fusion(graph_, options_.fusing, rolled(), found.extracted, plan);
  report_ = std::move(plan.report);
  report_.notes.insert(report_.notes.end(), unfused.begin(), unfused.end());
  // What was found is explained as it was found.
  if (explained.stored) {
    found.stored =
        explain_plan(found.extracted.graph, request, options_.search, plan.plan, plan.cut);
  }
  if (explained.absorbed) {
    found.absorbed =
        explain_absorbed(found.extracted.graph, request, options_.search, plan.plan, plan.cut);
  }
  found.sources = lowered_.sources;
  found.chosen = chosen.term;
  found.host_steps = std::move(request.host_steps);
  found.plan = std::move(plan.plan);
  if (!rolled_) {
    planned_ = std::move(found);
  } else if (auto unrolled = unroll_plan(graph_, roots_, *rolled_, loops, found)) {
    planned_ = std::move(*unrolled);
  } else {
    plan_as_it_is(explained, unrolled.why());
  }
  search_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void PlanWay::plan_as_it_is(Explained explained, const std::string& why) {
  rolled_.reset();
  lower();
  saturate();
  search(explained);
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
