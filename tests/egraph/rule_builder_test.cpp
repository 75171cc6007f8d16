#include "luminal/egraph/rule_builder.h"

#include "luminal/base/errors.h"
#include "luminal/egraph/egraph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace luminal::egraph {
namespace {

using testing::HasSubstr;

// The same e-graph twice: rules by text, and rules from C++.
TEST(RuleBuilder, MakesTheRulesThatTextMakes) {
  constexpr const char* kDeclarations = R"((datatype E (Num i64) (Add E E) (Mul E E))
    (function low (E) i64 :merge (max old new)) (relation small (E)) (ruleset more))";
  constexpr const char* kTerms = "(Add (Mul (Num 2) (Num 0)) (Add (Num 3) (Num 1)))";
  EGraph text;
  text.run_program(kDeclarations, "t");
  text.run_program(R"((rule ((= s (Add a b))) ((union s (Add b a))))
    (rule ((= m (Mul a (Num 0)))) ((union m (Num 0)) (subsume (Mul a (Num 0)))))
    (rule ((= e (Num n)) (< n 3)) ((set (low e) n) (small e)) :ruleset more)
    (rule ((small e) (= e (Num 1))) ((delete (small e))) :ruleset more))",
                   "t");
  text.run_program(kTerms, "t");

  EGraph built;
  built.run_program(kDeclarations, "t");
  const FunctionId num = built.function("Num"), add = built.function("Add");
  const FunctionId mul = built.function("Mul"), low = built.function("low");
  const FunctionId small = built.function("small");
  const RulesetId more = built.ruleset("more");
  {
    RuleBuilder rule(built.schema());
    const auto a = rule.variable(), b = rule.variable();
    const auto sum = rule.call(add, {a, b});
    rule.if_there(sum).unite(sum, rule.call(add, {b, a}));
    const RuleId id = built.add_rule("commute", kDefaultRuleset, rule);
    EXPECT_EQ(built.rule_name(id), "commute");
  }
  {
    RuleBuilder rule(built.schema());
    const auto zero = rule.call(num, {rule.constant(int64_t{0})});
    const auto product = rule.call(mul, {rule.variable(), zero});
    rule.if_there(product).unite(product, zero).subsume(product);
    built.add_rule("times zero", kDefaultRuleset, rule);
  }
  {
    RuleBuilder rule(built.schema());
    const auto e = rule.variable(), n = rule.variable();
    rule.if_equal(e, rule.call(num, {n}));
    rule.if_there(rule.call("<", {n, rule.constant(int64_t{3})}));
    rule.set(rule.call(low, {e}), n).make(rule.call(small, {e}));
    built.add_rule("low", more, rule);
  }
  {
    RuleBuilder rule(built.schema());
    const auto e = rule.variable();
    const auto is_small = rule.call(small, {e});
    rule.if_there(is_small).if_equal(e, rule.call(num, {rule.constant(int64_t{1})}));
    rule.remove(is_small);
    built.add_rule("not one", more, rule);
  }
  built.run_program(kTerms, "t");
  for (EGraph* egraph : {&text, &built}) {
    egraph->run_program("(run-schedule (repeat 3 (run) (run more)))", "t");
  }
  const auto sizes = [](EGraph& egraph) { return egraph.run_program("(print-size)", "t").outputs; };
  EXPECT_EQ(sizes(built), sizes(text));
  EXPECT_EQ(built.size(small), 2u);  // 0 and 2
}

TEST(RuleBuilder, ErrorsNameTheRuleAndTheTerm) {
  EGraph egraph;
  egraph.run_program("(datatype E (Num i64) (Add E E))", "t");
  RuleBuilder rule(egraph.schema());
  const auto n = rule.variable();
  const auto wrong = rule.call(egraph.function("Add"), {n, rule.constant(std::string_view("two"))});
  rule.if_there(wrong);
  try {
    egraph.add_rule("wrong", kDefaultRuleset, rule);
    FAIL() << "a string is no E";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("rule wrong:1:2"));
    EXPECT_THAT(error.what(), HasSubstr("String"));
  }
  EXPECT_FALSE(egraph.find_rule("wrong").has_value());
}

}  // namespace
}  // namespace luminal::egraph
