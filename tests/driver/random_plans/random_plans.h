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
#include "tests/support/random_source.h"

namespace luminal {

// Which plans are taken, and what they are checked against beside their kernels' loops.
struct RandomPlans {
  uint64_t seed = 1;
  Rolling rolling = Rolling::Auto;
  Numerics numerics = Numerics::Reassociating;
  bool strategies = false;     // of each step at random too, with its schedule
  bool against_graph = false;  // each value that a kernel stores
  int* changed = nullptr;      // counts steps that don't run by default
};

// Any strategy of a step, and any values of some of its knobs.
inline void choose_at_random(kernel::KernelStep& step, const backends::Backend& backend,
                             const backends::LoadOptions& load, tests::RandomSource& random) {
  std::vector<kernel::Strategy> others;
  for (const kernel::StepChoice& choice : backend.candidates(step, load)) {
    if (choice.strategy != step.strategy) others.push_back(choice.strategy);
  }
  if (!others.empty() && random.chance(0.5)) step.strategy = random.of(others);
  for (const kernel::StepChoice& choice : backend.candidates(step, load)) {
    if (choice.strategy != step.strategy || !random.chance(0.3)) continue;
    for (const auto& [knob, value] : choice.schedule.list()) step.schedule.set(knob, value);
  }
}

// The same plan with strategies and schedules at random.
inline std::shared_ptr<const kernel::PlannedGraph> with_random_strategies(
    const kernel::PlannedGraph& planned, const backends::Backend& backend,
    const backends::LoadOptions& load, const RandomPlans& plans) {
  auto changed = std::make_shared<kernel::PlannedGraph>(planned);
  tests::RandomSource random(plans.seed);
  for (auto& step : changed->plan.steps) {
    auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) continue;
    const kernel::Strategy own = kernel->strategy;
    choose_at_random(*kernel, backend, load, random);
    const bool is_changed = kernel->strategy != own || !kernel->schedule.empty();
    if (plans.changed != nullptr) *plans.changed += is_changed;
  }
  return changed;
}

// The program's results by one plan, as doubles; every kernel is compared with its loops.
inline std::vector<double> run_random_plan(const std::shared_ptr<const Graph>& graph,
                                           const std::vector<runtime::Buffer>& leaves,
                                           const Bindings& sizes, const RandomPlans& plans) {
  const backends::Backend& backend = backends::find_backend("cpu");
  backends::LoadOptions load;
  load.threads = 2;
  load.typical_sizes = sizes;
  CompileOptions options;
  options.plan.rolling = plans.rolling;
  options.plan.numerics = plans.numerics;
  options.plan.typical_sizes = sizes;
  CompileReport report;
  options.report = &report;
  const std::vector<NodeId> wanted = roots(*graph);
  auto planned = plan_graph(
      *graph, wanted, options, report, backend.packing(load), {},
      [&](const search::SearchedTerms& terms, const search::FoundPlan& first) {
        search::SearchOptions random = terms.options;
        for (random.seed = plans.seed;; random.seed += 1000) {
          search::BetterPlan plan{
              search::random_plan(terms.terms.extracted.graph, terms.request, random), nullptr};
          if (terms.whole(plan.found.plan)) return plan;
          if (random.seed > plans.seed + 5000) return search::BetterPlan{first, nullptr};
        }
      });
  if (plans.strategies) {
    planned = with_random_strategies(*planned, backend, load, plans);
  }
  std::vector<NodeId> results;
  for (const Output& output : graph->outputs()) results.push_back(output.node);
  const RunnableGraph runnable{
      .graph = graph, .results = results, .leaves = leaves, .sizes = sizes};
  const std::shared_ptr<const kernel::PlannedGraph> loads[] = {planned};
  LoadedPlans loaded(runnable, backend, load, loads);
  const auto notes = step_notes(*graph, planned, report.kernels);
  const interpret::LeafData leaf = leaf_data(runnable);
  StepChecker checker(
      *graph, *notes, sizes, leaf,
      {.most_operations = 1e6, .against_graph = plans.against_graph, .of_steps = {}});
  loaded.run(0, &checker);
  loaded.run(0);  // as programs run: side by side, nobody watching
  return loaded.result(0);
}

}  // namespace luminal
