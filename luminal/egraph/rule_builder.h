// RuleBuilder: a rule built in C++ instead of text: what to match, then what to do for each match.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/egraph/schema.h"
#include "luminal/egraph/value.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace luminal::egraph {

struct Expr;  // not luminal::Expr
struct RuleDeclaration;

// Sorts are inferred and checked when the rule is added; an error counts the terms from 1 in the
// order of their creation.
//
//   RuleBuilder rule(egraph.schema());
//   const auto a = rule.variable(), b = rule.variable();
//   const auto sum = rule.call(add, {a, b});
//   rule.if_there(sum).unite(sum, rule.call(add, {b, a}));
//   egraph.add_rule("commute", kDefaultRuleset, rule);
class LUMINAL_API RuleBuilder {
 public:
  // A variable, a constant or a call of this builder. The same call may be matched and created.
  struct Term {
    uint32_t number;
  };
  using Terms = std::initializer_list<Term>;

  explicit RuleBuilder(const Schema& schema);
  ~RuleBuilder();
  RuleBuilder(const RuleBuilder&) = delete;
  RuleBuilder& operator=(const RuleBuilder&) = delete;

  Term variable();
  Term constant(int64_t number);
  Term constant(double number);
  Term constant(std::string_view text);
  Term constant(bool value);
  Term call(FunctionId function, Terms arguments);
  // Overloads are resolved by the sorts.
  Term call(std::string_view primitive, Terms arguments);

  // What to match: a call whose row exists or that has a result; two terms that are equal.
  RuleBuilder& if_there(Term call);
  RuleBuilder& if_equal(Term a, Term b);

  // Actions for each match, in this order.
  RuleBuilder& make(Term call);
  RuleBuilder& set(Term call, Term value);
  RuleBuilder& unite(Term a, Term b);
  RuleBuilder& remove(Term call);
  RuleBuilder& subsume(Term call);

 private:
  friend class EGraph;
  struct Parts;

  Term add(Expr term);
  RuleDeclaration declaration(std::string name, std::string ruleset) const;

  std::unique_ptr<Parts> parts_;
};

}  // namespace luminal::egraph
