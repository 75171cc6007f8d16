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
  if (rule != nullptr && !rule->is_embedded()) {
    const bool in_file = rule->origin.by == search::RuleOrigin::By::User;
    throw UserError(fmt::format(
        "{}: the graph has no plan: {}; `luminal debug-ops GRAPH {}--analyze` says more",
        rule->place(), cause, in_file ? "--rules FILE " : ""));
  }
  throw InternalError(
      fmt::format("the graph has no plan: {}; `luminal debug-ops GRAPH --analyze` says more ({})",
                  cause, error.what()));
}

}  // namespace luminal
