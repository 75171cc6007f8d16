#include "luminal/search/terms/saturate.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"

namespace luminal::search {
namespace {

// Embedded rules are tested: one that fails next to added rules met a term of theirs. Returns if
// all are embedded.
void throw_for_added_rule(const RuleSet& rules, const std::string& message) {
  const RuleInfo* rule = rules.suspect(message);
  if (rule == nullptr) return;
  const std::string test = rule_test_text(rule->file, rule->origin);
  if (message.find("'" + rule->name + "'") == std::string::npos) {
    throw UserError(fmt::format("{}: a rule there makes invalid terms: {}; {} finds it",
                                rule->place(), message, test));
  }
  throw UserError(
      fmt::format("{}: rule '{}' is wrong: {}; {} shows an example where its sides differ",
                  rule->place(), rule->name, message, test));
}

}  // namespace

egraph::RunLimits saturation_limits(const Terms& terms) {
  egraph::RunLimits limits;
  limits.nodes = 100'000 + 20 * terms.egraph.tuples();
  limits.matches_per_rule = limits.nodes;
  limits.iterations = 2'000;
  limits.seconds = 60;
  return limits;
}

egraph::RunReport saturate(Terms& terms, const Admission& admission,
                           const egraph::RunLimits& limits) {
  std::vector<egraph::Schedule> parts;
  for (const std::string& ruleset : terms.rules.admitted(admission)) {
    parts.push_back(egraph::Schedule::run(terms.egraph.ruleset(ruleset)));
  }
  try {
    return terms.egraph.run(egraph::Schedule::saturate(std::move(parts)), limits);
  } catch (const std::exception& error) {
    throw_for_added_rule(terms.rules, error.what());
    throw;
  }
}

}  // namespace luminal::search
