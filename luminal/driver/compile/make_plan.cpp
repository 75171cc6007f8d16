#include "luminal/driver/compile/make_plan.h"

#include "luminal/driver/measure/plan_tuner.h"
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
  std::optional<PlanTuner> tuner;
  if (options.search.mode != SearchMode::Modelled) {
    tuner.emplace(graph, wanted, backend, request.options, options.search, options.storage,
                  options.progress);
  }
  return cache.plan(graph, wanted, options, report, packing, choose_library,
                    tuner ? &*tuner : nullptr);
}

CompileOptions options_of_variant(const CompileOptions& options, Bindings typical_sizes,
                                  size_t count) {
  CompileOptions of_variant = options;
  of_variant.plan.typical_sizes = std::move(typical_sizes);
  of_variant.search.seconds = options.search.seconds / static_cast<double>(count);
  return of_variant;
}

}  // namespace luminal
