#include "luminal/search/inspect/rules_in_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "luminal/egraph/language/parser.h"
#include "luminal/rules/rules.h"

namespace luminal::search {
namespace {

// Each admits those before it.
constexpr std::array<std::string_view, 4> kClasses = {"exact", "reassociating", "finite",
                                                      "approximate"};

size_t rank(std::string_view numeric_class) {
  return static_cast<size_t>(std::find(kClasses.begin(), kClasses.end(), numeric_class) -
                             kClasses.begin());
}

// Why a ruleset doesn't run; empty where it does. One without a class is exact.
std::string why_off(const std::string& ruleset, const RuleChoice& choice) {
  const size_t dot = ruleset.rfind('.');
  const std::string group = ruleset.substr(0, dot);
  const std::string numeric_class = dot == std::string::npos ? "exact" : ruleset.substr(dot + 1);
  const auto& disabled = choice.disabled;
  if (std::find(disabled.begin(), disabled.end(), group) != disabled.end()) {
    return fmt::format("its group '{}' is disabled", group);
  }
  if (rank(numeric_class) > rank(choice.numerics)) {
    return fmt::format("its class '{}' isn't admitted by numerics '{}'", numeric_class,
                       choice.numerics);
  }
  return {};
}

constexpr uint64_t kMostNodes = 1'000'000;
constexpr uint64_t kMostIterations = 2'000;

}  // namespace

RulesInUse::RulesInUse(Terms& terms, const RuleChoice& choice) {
  for (const rules::RuleFile& file : rules::rule_files()) {
    add_file(file.name, file.text, false, choice);
  }
  for (const InspectedRuleFile& file : choice.files) {
    add_file(file.name, file.text, true, choice);
    terms.egraph.run_program(file.text, file.name);
  }
}

void RulesInUse::add_file(std::string_view file, std::string_view text, bool of_user,
                          const RuleChoice& choice) {
  for (const egraph::Command& command : egraph::parse(text, file)) {
    if (const auto* ruleset = std::get_if<egraph::RulesetDeclaration>(&command.body)) {
      if (why_off(ruleset->name, choice).empty()) rulesets_.push_back(ruleset->name);
    }
    if (const auto* rule = std::get_if<egraph::RuleDeclaration>(&command.body)) {
      rules_.push_back(
          {rule->name, rule->ruleset, std::string(file), of_user, why_off(rule->ruleset, choice)});
    }
  }
}

const RuleInUse* RulesInUse::find(std::string_view name) const {
  const auto it = std::find_if(rules_.begin(), rules_.end(),
                               [&](const RuleInUse& rule) { return rule.name == name; });
  return it == rules_.end() ? nullptr : &*it;
}

egraph::RunReport RulesInUse::saturate(Terms& terms) const {
  std::vector<egraph::Schedule> parts;
  for (const std::string& ruleset : rulesets_) {
    parts.push_back(egraph::Schedule::run(terms.egraph.ruleset(ruleset)));
  }
  egraph::RunLimits limits;
  limits.nodes = kMostNodes;
  limits.iterations = kMostIterations;
  return terms.egraph.run(egraph::Schedule::saturate(std::move(parts)), limits);
}

}  // namespace luminal::search
