#include "luminal/search/pipeline/phases.h"

#include "luminal/search/fusion/force_fusion.h"
#include "luminal/search/pipeline/plan_request.h"
#include "luminal/search/rolling/plan_loops.h"
#include "luminal/search/terms/saturate.h"

namespace luminal::search {
namespace {

void run(Phase phase, const PhaseInput& input, PhaseResults& results) {
  const PlanningOptions& options = input.options;
  switch (phase) {
    case Phase::Terms:
      results.terms = std::make_unique<Terms>(RuleSet(options.rules));
      results.lowered = lower_graph(input.graph, input.roots, *results.terms);
      return;
    case Phase::Saturated:
      results.saturation = saturate(*results.terms, options.admission);
      return;
    case Phase::Extracted:
      results.extracted = extract_terms(input.graph, results.lowered, *results.terms);
      results.loops = {};
      if (input.rolled != nullptr) {
        results.loops = plan_loops(*input.rolled, results.lowered, results.extracted);
      }
      results.chosen = choose_terms(results.extracted.graph, options.search.sizes);
      return;
    case Phase::Asked:
      results.request =
          plan_request(input.graph, results.lowered, results.extracted, results.chosen);
      results.request.loops = results.loops;
      results.request.weights =
          WeightFacts(input.graph, results.lowered.sources, results.extracted.graph,
                      results.chosen.term, results.request.stored);
      force_fusion(options.fusing, input.rolled, results.extracted, results.request);
      return;
    case Phase::Planned:
      results.found = find_plan(results.extracted.graph, results.request, options.search);
      return;
  }
}

}  // namespace

void run_phases(Phase last, const PhaseInput& input, PhaseResults& results) {
  for (Phase phase :
       {Phase::Terms, Phase::Saturated, Phase::Extracted, Phase::Asked, Phase::Planned}) {
    if (phase > last) return;
    if (results.done && phase <= *results.done) continue;
    run(phase, input, results);
    results.done = phase;
  }
}

}  // namespace luminal::search
