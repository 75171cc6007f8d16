#include "luminal/driver/no_plan.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/search/inspect/diagnose.h"

namespace luminal {

void throw_no_plan(const Graph& graph, const CompileOptions& options, const std::exception& error) {
  search::InspectOptions asked;
  asked.search.sizes = options.typical_sizes;
  asked.search.seed = options.seed;
  search::Inspection inspection(graph, asked);
  const std::string cause = search::summary(search::diagnose(inspection));
  if (cause.empty()) throw InternalError(error.what());
  throw InternalError(
      fmt::format("the graph has no plan: {}; `luminal debug-ops GRAPH --analyze` says more ({})",
                  cause, error.what()));
}

}  // namespace luminal
