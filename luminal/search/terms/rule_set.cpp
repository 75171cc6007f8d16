#include "luminal/search/terms/rule_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/egraph/language/parser.h"
#include "luminal/rules/rules.h"

namespace luminal::search {
namespace {

using base::Sexpr;

constexpr std::array<std::string_view, 4> kClassNames = {"exact", "reassociating", "finite",
                                                         "approximate"};

bool is_rule(const Sexpr& form) {
  return form.is_call("rule") || form.is_call("rewrite") || form.is_call("birewrite");
}

// What a file of rules may hold beside its rules.
bool is_declaration(const egraph::Command& command) {
  return std::holds_alternative<egraph::SortDeclaration>(command.body) ||
         std::holds_alternative<egraph::FunctionDeclaration>(command.body);
}

std::string place(const RuleText& file) { return rule_place(file.file, file.origin); }

void check_function(const egraph::FunctionDeclaration& function, egraph::SourcePosition position,
                    const RuleText& file) {
  const bool is_term = function.kind == egraph::FunctionKind::Constructor &&
                       (function.output.name == "Value" || function.output.name == "Tensor");
  if (!is_term) return;
  base::fail_at(place(file), position,
                fmt::format("constructor '{}' makes a {}, which no kernel could compute; give it a "
                            "sort of its own, or match a custom op with Call1 … Call4",
                            function.name, function.output.name));
}

RuleText embedded(const rules::RuleFile& file) {
  return {std::string(file.name), std::string(file.text), {RuleOrigin::By::Compiler}};
}

void run_alone(egraph::EGraph& egraph, const RuleText& file) {
  egraph.run_program(file.text, place(file), {.limits = {}, .files = {}, .on_output = {}});
}

}  // namespace

std::optional<RuleClass> rule_class_from_name(std::string_view text) {
  const auto it = std::find(kClassNames.begin(), kClassNames.end(), text);
  if (it == kClassNames.end()) return std::nullopt;
  return static_cast<RuleClass>(it - kClassNames.begin());
}

RuleSet::RuleSet(const std::vector<RuleText>& added) {
  for (const rules::RuleFile& file : rules::rule_files()) add_file(embedded(file));
  for (const RuleText& file : added) add_file(file);
}

RuleSet RuleSet::of_patterns(const std::vector<RuleText>& added) {
  RuleSet result{Empty()};
  result.add_file(embedded(rules::rule_files().front()));
  result.add_file(embedded(rules::pattern_file()));
  for (const RuleText& file : added) result.add_file(file);
  return result;
}

void RuleSet::add_file(const RuleText& file) {
  const std::string name = place(file);
  const bool is_added = file.origin.by != RuleOrigin::By::Compiler;
  std::map<std::pair<uint32_t, uint32_t>, std::string> forms;  // by line and column
  for (const Sexpr& form : base::read_sexprs(file.text, name)) {
    forms[{form.position.line, form.position.column}] = base::print(form);
  }
  for (const egraph::Command& command : egraph::parse(file.text, name)) {
    const std::string& form = forms[{command.position.line, command.position.column}];
    if (const auto* ruleset = std::get_if<egraph::RulesetDeclaration>(&command.body)) {
      add_ruleset(*ruleset, command.position, file);
    } else if (const auto* rule = std::get_if<egraph::RuleDeclaration>(&command.body)) {
      add_rule(*rule, form, command.position, file);
    } else if (!is_declaration(command)) {
      base::fail_at(name, command.position,
                    fmt::format("{} in a file of rules; it may hold sorts, functions, rulesets and "
                                "rules alone",
                                form));
    }
    const auto* function = std::get_if<egraph::FunctionDeclaration>(&command.body);
    if (is_added && function != nullptr) check_function(*function, command.position, file);
  }
  files_.push_back(file);
}

void RuleSet::add_ruleset(const egraph::RulesetDeclaration& ruleset,
                          egraph::SourcePosition position, const RuleText& file) {
  const size_t dot = ruleset.name.rfind('.');
  const std::string suffix = dot == std::string::npos ? "" : ruleset.name.substr(dot + 1);
  const std::optional<RuleClass> numeric_class = rule_class_from_name(suffix);
  if (!numeric_class || dot == 0 || ruleset.is_combined) {
    base::fail_at(place(file), position,
                  fmt::format("ruleset '{}' doesn't name the class of its rules; call it "
                              "GROUP.CLASS, with one of the classes {}",
                              ruleset.name, fmt::join(kClassNames, ", ")));
  }
  rulesets_.push_back({ruleset.name, ruleset.name.substr(0, dot), *numeric_class});
}

void RuleSet::add_rule(const egraph::RuleDeclaration& rule, const std::string& form,
                       egraph::SourcePosition position, const RuleText& file) {
  if (rule.name.empty()) {
    base::fail_at(place(file), position, "the rule has no name; add :name \"what-it-does\"");
  }
  const auto ruleset = std::find_if(rulesets_.begin(), rulesets_.end(), [&](const Ruleset& known) {
    return known.name == rule.ruleset;
  });
  if (ruleset == rulesets_.end()) {
    const std::string found = rule.ruleset.empty()
                                  ? "is in no ruleset"
                                  : fmt::format(
                                        "is in ruleset '{}', which isn't declared before "
                                        "it",
                                        rule.ruleset);
    base::fail_at(place(file), position,
                  fmt::format("rule '{}' {}; declare (ruleset GROUP.CLASS), with one of the "
                              "classes {}, and add :ruleset GROUP.CLASS to the rule",
                              rule.name, found, fmt::join(kClassNames, ", ")));
  }
  if (const RuleInfo* known = find(rule.name)) {
    base::fail_at(place(file), position,
                  fmt::format("there is a rule '{}' already, in {}; choose another name", rule.name,
                              known->place()));
  }
  rules_.push_back(
      {rule.name, ruleset->group, ruleset->numeric_class, file.file, file.origin, form, rule});
}

const RuleInfo* RuleSet::find(std::string_view rule) const {
  const auto it = std::find_if(rules_.begin(), rules_.end(),
                               [&](const RuleInfo& known) { return known.name == rule; });
  return it == rules_.end() ? nullptr : &*it;
}

const RuleInfo* RuleSet::suspect(std::string_view message) const {
  const auto rank = [&](const RuleInfo& rule) {
    const bool named = message.find("'" + rule.name + "'") != std::string_view::npos;
    return std::pair(named, rule.origin.by);
  };
  const RuleInfo* found = nullptr;
  for (const RuleInfo& rule : rules_) {
    if (rule.is_embedded()) continue;
    if (found == nullptr || rank(rule) > rank(*found)) found = &rule;
  }
  return found;
}

std::vector<std::string> RuleSet::groups() const {
  std::vector<std::string> groups;
  for (const Ruleset& ruleset : rulesets_) {
    if (ruleset.group == kFacts) continue;
    if (std::find(groups.begin(), groups.end(), ruleset.group) == groups.end()) {
      groups.push_back(ruleset.group);
    }
  }
  return groups;
}

std::vector<std::string> RuleSet::admitted(const Admission& admission) const {
  const std::vector<std::string> known = groups();
  for (const std::string& group : admission.disabled) {
    if (std::find(known.begin(), known.end(), group) != known.end()) continue;
    throw UserError(fmt::format("there is no group of rules '{}' to disable; the groups are {}",
                                group, fmt::join(known, ", ")));
  }
  std::vector<std::string> names;
  for (const Ruleset& ruleset : rulesets_) {
    const bool disabled = std::find(admission.disabled.begin(), admission.disabled.end(),
                                    ruleset.group) != admission.disabled.end();
    if (!disabled && ruleset.numeric_class <= admission.up_to) names.push_back(ruleset.name);
  }
  return names;
}

void RuleSet::load(egraph::EGraph& egraph) const {
  for (const RuleText& file : files_) run_alone(egraph, file);
}

void RuleSet::load_alone(egraph::EGraph& egraph, const RuleInfo& rule) const {
  for (const RuleText& file : files_) {
    std::string text;
    for (const Sexpr& form : base::read_sexprs(file.text, place(file))) {
      const std::string printed = base::print(form);
      const bool is_fact = std::any_of(rules_.begin(), rules_.end(), [&](const RuleInfo& known) {
        return known.group == kFacts && known.is_embedded() && known.form == printed;
      });
      if (!is_rule(form) || is_fact || (place(file) == rule.place() && printed == rule.form)) {
        text += printed + "\n";
      }
    }
    run_alone(egraph, {file.file, std::move(text), file.origin});
  }
}

}  // namespace luminal::search

std::string_view luminal::name(Numerics numerics) {
  return luminal::search::kClassNames[static_cast<size_t>(numerics)];
}
