// make_plan: the plan of a graph as compile() makes it: from the cache, from the tuning records, or
// by a search. So an explained plan is the one that runs.
#pragma once

#include <memory>
#include <optional>

#include "luminal/backends/backend.h"
#include "luminal/driver/compile.h"
#include "luminal/driver/compile/plan_cache.h"

namespace luminal {

// `options` are those of the request's variant. With `packing`, weights are stored as packed
// panels.
std::shared_ptr<const kernel::PlannedGraph> make_plan(const backends::LoadRequest& request,
                                                      const backends::Backend& backend,
                                                      std::optional<kernel::Packing> packing,
                                                      const CompileOptions& options,
                                                      PlanCache& cache, CompileReport& report);

// The options of one of `count` variants, with the sizes that it is planned for; the variants share
// the time budget of a search.
CompileOptions options_of_variant(const CompileOptions& options, Bindings typical_sizes,
                                  size_t count);

}  // namespace luminal
