// make_plan: the plan of a graph as compile() makes it: from the cache, from the records, or by a
// search. Whoever explains a plan gets the one that runs.
#pragma once

#include <memory>
#include <optional>

#include "luminal/backends/backend.h"
#include "luminal/driver/compile.h"
#include "luminal/driver/compile/plan_cache.h"

namespace luminal {

// `options` are those of the request's variant. With `packing`, weights are stored in panels.
std::shared_ptr<const kernel::PlannedGraph> make_plan(const backends::LoadRequest& request,
                                                      const backends::Backend& backend,
                                                      std::optional<kernel::Packing> packing,
                                                      const CompileOptions& options,
                                                      PlanCache& cache, CompileReport& report);

// The options of one of `count` variants, with the sizes that it is planned for: time for a search
// is shared.
CompileOptions options_of_variant(const CompileOptions& options, Bindings typical_sizes,
                                  size_t count);

}  // namespace luminal
