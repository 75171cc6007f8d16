// RuleSet: the rules of a compile by group and numeric class: the embedded ones, and those that the
// backend, custom ops and the user bring.
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
#include "luminal/search/terms/rule_origin.h"

namespace luminal {

std::string_view name(Numerics numerics);  // "exact"

}  // namespace luminal

namespace luminal::search {

// What a rule promises; each class admits those before it.
using RuleClass = Numerics;

std::optional<RuleClass> rule_class_from_name(std::string_view text);

struct RuleText {
  std::string file;
  std::string text;
  RuleOrigin origin = {};
};

struct RuleInfo {
  std::string name;
  std::string group;
  RuleClass numeric_class = RuleClass::Exact;
  std::string file;
  RuleOrigin origin;
  std::string form;                // its text, in one line
  egraph::RuleDeclaration syntax;  // desugared

  bool is_embedded() const { return origin.by == RuleOrigin::By::Compiler; }
  // As messages name its file: "mine.egg", "gemm.egg of backend 'toy'".
  std::string place() const { return rule_place(file, origin); }
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

  // The embedded rules and those of `added`. UserError, with file, line and way out, if a file
  // isn't valid.
  explicit RuleSet(const std::vector<RuleText>& added = {});
  // The rules that find patterns (rules/patterns.egg) instead of those that simplify terms.
  static RuleSet of_patterns(const std::vector<RuleText>& added = {});

  const std::vector<RuleInfo>& rules() const { return rules_; }
  const RuleInfo* find(std::string_view rule) const;
  // The rule to suspect of an error in `message`: one that it names, else any. Embedded rules are
  // tested, so they are above suspicion, and a user's rules come before a backend's. Null if all
  // are embedded.
  const RuleInfo* suspect(std::string_view message) const;
  // The groups that may be disabled, in the order of the files.
  std::vector<std::string> groups() const;
  // The rulesets that run, in order. UserError for an unknown group, with a list of the groups.
  std::vector<std::string> admitted(const Admission& admission) const;

  // Declares everything in an e-graph that has the host's sorts and primitives. UserError if an
  // added rule doesn't fit the language.
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

  void add_file(const RuleText& file);
  void add_rule(const egraph::RuleDeclaration& rule, const std::string& form,
                egraph::SourcePosition position, const RuleText& file);
  void add_ruleset(const egraph::RulesetDeclaration& ruleset, egraph::SourcePosition position,
                   const RuleText& file);

  std::vector<RuleText> files_;
  std::vector<Ruleset> rulesets_;
  std::vector<RuleInfo> rules_;
};

}  // namespace luminal::search
