// RulePattern: what a rule's left side requires, read from its facts.
#pragma once

#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "luminal/egraph/language/ast.h"
#include "luminal/graph/op.h"
#include "luminal/search/terms/rule_set.h"

namespace luminal::rule_testing {

using search::RuleInfo;

// "Call1" … "Call4", of custom ops.
bool is_call_term(std::string_view name);
// Whether a pattern is a term of the language, and not a variable, a constant or a guard.
bool is_term(const egraph::Expr& pattern);

// Thrown if no instance of the rule can be made, however often one tries.
struct Untestable {
  std::string why;
};

struct RulePattern {
  // Refers to the rule. Throws Untestable if it requires what no graph has.
  explicit RulePattern(const RuleInfo& rule);
  RulePattern(const RulePattern&) = delete;  // refers to itself
  RulePattern& operator=(const RulePattern&) = delete;

  std::vector<const egraph::Expr*> outermost;              // terms that are part of no other
  std::map<std::string, const egraph::Expr*> definitions;  // variables that stand for a term
  std::map<std::string, std::string> constants;  // values that are constant → their number
  std::vector<std::string> asked;                // values that facts are queried about

 private:
  using Terms = std::vector<std::pair<std::string, const egraph::Expr*>>;

  void read_side(const egraph::Expr& side, const egraph::Expr* variable, Terms& terms);
  void define(const egraph::Expr& variable, const egraph::Expr& term, Terms& terms);

  std::list<egraph::Expr> made_;  // terms that facts stand for
};

}  // namespace luminal::rule_testing
