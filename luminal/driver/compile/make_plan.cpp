#include "luminal/driver/compile/make_plan.h"

#include "luminal/driver/compile/tuned_plans.h"
#include "luminal/graph/traverse.h"

namespace luminal {

std::shared_ptr<const kernel::PlannedGraph> make_plan(const backends::LoadRequest& request,
                                                      const backends::Backend& backend,
                                                      std::optional<kernel::Packing> packing,
                                                      const CompileOptions& options,
                                                      PlanCache& cache, CompileReport& report) {
  const Graph& graph = *request.graph;
  ChooseLibrary choose_library;
  if (options.backend.library != LibraryPolicy::Never) {
    choose_library = [&](const std::shared_ptr<const kernel::PlannedGraph>& plain,
                         const kernel::PlannedGraph& packed) {
      backends::LoadRequest of_plain = request;
      of_plain.planned = plain;
      return backend.choose_library(of_plain, packed);
    };
  }
  const std::vector<NodeId> wanted = roots(graph);
  const PlanAsked asked{.graph = graph,
                        .roots = wanted,
                        .options = options,
                        .packing = packing,
                        .choose_library = choose_library,
                        .report = report,
                        .planning = planning_options(graph, options),
                        .place = place_of(options.backend)};
  switch (options.search.mode) {
    case SearchMode::Recorded:
      if (auto planned = recorded_plan(asked, backend, request.options)) return planned;
      return cache.plan(asked);
    case SearchMode::Modelled:
      return cache.plan(asked);
    case SearchMode::Measured:
    case SearchMode::Replay:
      break;
  }
  PlanTuner tuner(graph, wanted, backend, request.options, options.search, options.storage,
                  options.progress);
  return searched_plan(asked, tuner);
}

CompileOptions options_of_variant(const CompileOptions& options, Bindings typical_sizes,
                                  size_t count) {
  CompileOptions of_variant = options;
  of_variant.plan.typical_sizes = std::move(typical_sizes);
  of_variant.search.seconds = options.search.seconds / static_cast<double>(count);
  return of_variant;
}

}  // namespace luminal
