#include "luminal/search/terms/saturate.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"

namespace luminal::search {
namespace {

// The user's rule that a message of the engine names, if it names one.
const RuleInfo* users_rule_in(const RuleSet& rules, const std::string& message) {
  for (const RuleInfo& rule : rules.rules()) {
    if (rule.of_user && message.find("'" + rule.name + "'") != std::string::npos) return &rule;
  }
  return nullptr;
}

// Built-in rules are tested: one that fails next to a user's rules met a term of theirs.
[[noreturn]] void throw_for_files(const RuleSet& rules, const std::string& message) {
  for (const RuleInfo& rule : rules.rules()) {
    if (!rule.of_user) continue;
    throw UserError(
        fmt::format("{}: a rule there makes invalid terms: {}; `luminal rules test {}` finds it",
                    rule.file, message, rule.file));
  }
  throw;  // rethrows what is being handled
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
    const RuleInfo* rule = users_rule_in(terms.rules, error.what());
    if (rule == nullptr) throw_for_files(terms.rules, error.what());
    throw UserError(
        fmt::format("{}: rule '{}' is wrong: {}; `luminal rules test {}` shows an example where "
                    "its sides differ",
                    rule->file, rule->name, error.what(), rule->file));
  }
}

}  // namespace luminal::search
