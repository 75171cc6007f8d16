// Plans taken at random from all that a graph has, run on the cpu and checked kernel by kernel: the
// whole space of candidates must be right, not only the one that wins.
#pragma once

#include <gtest/gtest.h>

#include "luminal/backends/registry/registry.h"
#include "luminal/driver/check/check_steps.h"
#include "luminal/driver/measure/leaf_values.h"
#include "luminal/driver/measure/loaded_plans.h"
#include "luminal/driver/plan/planned_terms.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/graph/traverse.h"
#include "luminal/luminal.h"

namespace luminal {

// The program's results by one plan, as doubles; every kernel is compared with its loops, and with
// the graph's values where `against_graph`.
inline std::vector<double> run_random_plan(const std::shared_ptr<const Graph>& graph,
                                           const std::vector<runtime::Buffer>& leaves,
                                           const Bindings& sizes, Rolling rolling, uint64_t seed,
                                           bool against_graph) {
  const backends::Backend& backend = backends::find_backend("cpu");
  backends::LoadOptions load;
  load.threads = 2;
  load.typical_sizes = sizes;
  CompileOptions options;
  options.plan.rolling = rolling;
  options.plan.typical_sizes = sizes;
  CompileReport report;
  options.report = &report;
  const std::vector<NodeId> wanted = roots(*graph);
  const auto planned = plan_graph(
      *graph, wanted, options, report, backend.packing(load), {},
      [&](const search::SearchedTerms& terms, const search::FoundPlan& first) {
        search::SearchOptions random = terms.options;
        for (random.seed = seed;; random.seed += 1000) {
          search::BetterPlan plan{
              search::random_plan(terms.terms.extracted.graph, terms.request, random), nullptr};
          if (terms.whole(plan.found.plan)) return plan;
          if (random.seed > seed + 5000) return search::BetterPlan{first, nullptr};
        }
      });
  std::vector<NodeId> results;
  for (const Output& output : graph->outputs()) results.push_back(output.node);
  const RunnableGraph runnable{
      .graph = graph, .results = results, .leaves = leaves, .sizes = sizes};
  const std::shared_ptr<const kernel::PlannedGraph> plans[] = {planned};
  LoadedPlans loaded(runnable, backend, load, plans);
  const auto notes = step_notes(*graph, planned, report.kernels);
  const interpret::LeafData leaf = leaf_data(runnable);
  StepChecker checker(*graph, *notes, sizes, leaf,
                      {.most_operations = 1e6, .against_graph = against_graph, .of_steps = {}});
  loaded.run(0, &checker);
  loaded.run(0);  // as programs run: side by side, nobody watching
  return loaded.result(0);
}

}  // namespace luminal
