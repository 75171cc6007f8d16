// RuleSet: the rules of a compile, the embedded ones and the user's, by group and numeric class.
//
// A rule's ruleset is named GROUP.CLASS, `algebra.exact`. The class states the rule's numeric
// guarantee, in plain egglog syntax.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/egraph/egraph.h"
#include "luminal/egraph/language/ast.h"
#include "luminal/search/policies.h"

namespace luminal {

std::string_view name(Numerics numerics);  // "exact"

}  // namespace luminal

namespace luminal::search {

// What a rule promises; each class admits those before it.
using RuleClass = Numerics;

std::optional<RuleClass> rule_class_from_name(std::string_view text);

// A file of rules, under the name that messages give it.
struct RuleText {
  std::string file;
  std::string text;
};

struct RuleInfo {
  std::string name;
  std::string group;
  RuleClass numeric_class = RuleClass::Exact;
  std::string file;
  bool of_user = false;
  std::string form;                // its text, in one line
  egraph::RuleDeclaration syntax;  // desugared
};

// Which rules run.
struct Admission {
  RuleClass up_to = RuleClass::Reassociating;
  std::vector<std::string> disabled = {};  // groups
};

class RuleSet {
 public:
  // The group of analyses, types and constants of values. It always runs.
  static constexpr const char* kFacts = "facts";

  // UserError, with file, line and way out, if a file isn't valid.
  explicit RuleSet(std::vector<RuleText> users = {});
  // The rules that find patterns (rules/patterns.egg) instead of those that simplify terms.
  static RuleSet of_patterns(const std::vector<RuleText>& users = {});

  const std::vector<RuleInfo>& rules() const { return rules_; }
  const RuleInfo* find(std::string_view rule) const;
  // The groups that may be disabled, in the order of the files.
  std::vector<std::string> groups() const;
  // The rulesets that run, in order. UserError for an unknown group, with a list of the groups.
  std::vector<std::string> admitted(const Admission& admission) const;

  // Declares everything in an e-graph that has the host's sorts and primitives. UserError if a
  // user's rule doesn't fit the language.
  void load(egraph::EGraph& egraph) const;
  // The same with only the facts and one form of a rule, to test it.
  void load_alone(egraph::EGraph& egraph, const RuleInfo& rule) const;

 private:
  struct Ruleset {
    std::string name;
    std::string group;
    RuleClass numeric_class;
  };

  struct Empty {};
  explicit RuleSet(Empty) {}

  void add_file(const RuleText& file, bool of_user);
  void add_rule(const egraph::RuleDeclaration& rule, const std::string& form,
                egraph::SourcePosition position, const RuleText& file, bool of_user);
  void add_ruleset(const egraph::RulesetDeclaration& ruleset, egraph::SourcePosition position,
                   const RuleText& file);

  std::vector<RuleText> files_;
  std::vector<Ruleset> rulesets_;
  std::vector<RuleInfo> rules_;
};

}  // namespace luminal::search
