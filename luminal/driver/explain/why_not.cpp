#include "luminal/driver/explain/why_not.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/driver/options/variants.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/graph/verify.h"
#include "luminal/search/inspect/answers.h"
#include "luminal/search/inspect/nearest_rule.h"
#include "luminal/search/inspect/why_apart.h"

namespace luminal {
namespace {

using search::Finding;
using search::Inspection;

// Where the rule gets furthest, if it begins to match anywhere.
Finding why_not_anywhere(Inspection& inspection, const std::string& rule) {
  const auto id = inspection.terms().egraph.find_rule(rule);
  const auto nearest = id ? search::nearest_place(inspection, *id) : std::nullopt;
  if (!nearest)
    throw UserError(fmt::format("rule '{}' can't match: the graph has no values", rule));
  return search::explain_why_not(inspection, rule, nearest->node);
}

NodeId tensor_or_rule(const Inspection& inspection, const std::string& name) {
  try {
    return inspection.find_tensor(name);
  } catch (const UserError& error) {
    throw UserError(fmt::format("'{}' is neither a rule (`luminal rules list`) nor a tensor: {}",
                                name, error.what()));
  }
}

Finding answer(Inspection& inspection, const std::vector<std::string>& asked) {
  if (inspection.rules().find(asked.front()) != nullptr) {
    if (asked.size() == 1) return why_not_anywhere(inspection, asked.front());
    return search::explain_why_not(inspection, asked.front(), inspection.find_tensor(asked[1]));
  }
  const NodeId first = tensor_or_rule(inspection, asked.front());
  if (asked.size() == 1) {
    throw UserError(fmt::format("{} is only one tensor; name a second one, or a rule before it",
                                inspection.graph().describe(first)));
  }
  return search::why_apart(inspection, first, inspection.find_tensor(asked[1]));
}

}  // namespace

std::vector<WhyNotAnswer> why_not(const Graph& graph, const CompileOptions& options,
                                  const std::vector<std::string>& asked) {
  verify(graph);
  const std::shared_ptr<const Graph> snapshot = graph.clone();
  const Variants variants(variables(*snapshot), options.plan.variants);
  std::vector<WhyNotAnswer> answers;
  for (size_t v = 0; v < variants.count(); ++v) {
    CompileOptions of_variant = options;
    of_variant.plan.typical_sizes = variants.sizes(v, options.plan.typical_sizes);
    const std::shared_ptr<const Graph> narrowed = variants.narrowed(v, snapshot);
    Inspection inspection(*narrowed, planning_options(*narrowed, of_variant));
    answers.push_back({variants.text(v), answer(inspection, asked)});
  }
  return answers;
}

}  // namespace luminal
