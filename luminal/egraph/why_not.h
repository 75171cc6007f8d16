// WhyNot: why a rule doesn't match at a term: the first missing fact and the rows found in its
// place, or the condition that failed.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/egraph/value.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace luminal::egraph {

struct Engine;

struct WhyNot {
  enum class Outcome : uint8_t {
    Matches,      // already applied, or not run since it became true: `detail` says which
    MissingFact,  // no row fits `subject`
    FailedGuard,  // `subject` has no result, or not the required one
    NothingFits,  // no variable of the rule can be bound to the term
    NoTerm,       // the term isn't in the e-graph
  };

  Outcome outcome = Outcome::NoTerm;
  std::string rule;
  std::string term;
  std::vector<std::string> found;  // the facts and conditions that held before `subject`, in order
  std::string subject;             // `(Mul ?x (Num 2))`; bound variables are shown as their terms
  std::string detail;              // where `subject` was looked for, or how it failed
  std::vector<std::string> instead;  // rows found in place of the missing one
  size_t instead_left_out = 0;
  std::vector<std::pair<std::string, std::string>> bindings;  // variables and their terms
  bool complete = true;  // false: the search was cut short, and a deeper match may exist

  LUMINAL_API std::string text() const;
};

// Of all partial matches of the rule that contain the term, explains the one that gets furthest.
// `variable` is the variable bound to the term; empty means a rewrite's left side, or any variable
// of that sort. UserError if the rule has no such variable. Rebuilds.
WhyNot why_not(Engine& engine, RuleId rule, Value value, SortId sort, std::string_view variable);

// A question as text: `RULE at TERM` or `RULE at VARIABLE=TERM`.
WhyNot why_not(Engine& engine, std::string_view question);

}  // namespace luminal::egraph
