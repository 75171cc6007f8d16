#include "luminal/driver/plan/no_plan.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/search/inspect/diagnose.h"

namespace luminal {

void throw_no_plan(const Graph& graph, const CompileOptions& options, const std::exception& error) {
  search::Inspection inspection(graph, planning_options(graph, options));
  const std::vector<search::Finding> causes = search::diagnose(inspection);
  const std::string cause = search::summary(causes);
  if (cause.empty()) throw InternalError(error.what());
  const search::RuleInfo* rule = inspection.rules().find(causes.front().at("rule"));
  if (rule != nullptr && rule->of_user) {
    throw UserError(fmt::format(
        "{}: the graph has no plan: {}; `luminal debug-ops GRAPH --rules FILE --analyze` says more",
        rule->file, cause));
  }
  throw InternalError(
      fmt::format("the graph has no plan: {}; `luminal debug-ops GRAPH --analyze` says more ({})",
                  cause, error.what()));
}

}  // namespace luminal
