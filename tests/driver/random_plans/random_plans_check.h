// A number of random plans of a model, each against the first.
#pragma once

#include <cmath>

#include "tests/driver/random_plans/random_plans.h"
#include "tests/driver/random_plans/random_plans_models.h"

namespace luminal {

inline void check_random_plans(const ModelCase& model, int count, uint64_t first_seed) {
  SCOPED_TRACE(model.name);
  auto graph = std::make_shared<Graph>();
  model.build(*graph);
  const auto leaves = leaf_values(*graph, model.sizes, *graph, graph->leaves(), 1);
  for (int i = 0; i < count; ++i) {
    const uint64_t seed = first_seed + static_cast<uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    // Every third one isn't rolled, and the values of the whole graph are compared now and then.
    const RandomPlans plans{.seed = seed,
                            .rolling = i % 3 == 2 ? Rolling::Off : Rolling::Auto,
                            .against_graph = i % 5 == 0};
    const std::vector<double> found = run_random_plan(graph, leaves, model.sizes, plans);
    ASSERT_FALSE(found.empty());
    for (double value : found) ASSERT_TRUE(std::isfinite(value));
  }
}

}  // namespace luminal
