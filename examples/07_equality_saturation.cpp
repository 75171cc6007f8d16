// The e-graph engine on its own: terms and rules from C++ and from text, and why two terms are
// equal.
#include <iostream>

#include "luminal/egraph/egraph.h"

int main() {
  using namespace luminal::egraph;
  EGraph egraph;
  egraph.record_proofs();
  egraph.run_program(R"((datatype Expr (Num i64) (Var String) (Add Expr Expr) (Mul Expr Expr))
    (rewrite (Mul x (Num 1)) x :name "times one")
    (rewrite (Add x x) (Mul (Num 2) x) :name "twice")
    (rewrite (Add (Num a) (Num b)) (Num (+ a b)) :name "fold"))",
                     "rules.egg");
  const SortId expr = egraph.sort("Expr");
  const FunctionId num = egraph.function("Num"), add = egraph.function("Add"),
                   mul = egraph.function("Mul");

  RuleBuilder rule(egraph.schema());
  const auto a = rule.variable(), b = rule.variable();
  const auto product = rule.call(mul, {a, b});
  rule.if_there(product).unite(product, rule.call(mul, {b, a}));
  egraph.add_rule("commute", kDefaultRuleset, rule);

  // 1·x + x
  const Value x = egraph.add(egraph.function("Var"), {egraph.constants().intern("x")});
  const Value one = egraph.add(num, {egraph.constants().intern(int64_t{1})});
  const Value sum = egraph.add(add, {egraph.add(mul, {one, x}), x});

  const RunReport report = egraph.run(Schedule::saturate(kDefaultRuleset), {.nodes = 10'000});
  std::cout << report.text(false) << "cheapest: " << egraph.extract(sum, expr).text << "\n\n";

  const Explanation why = egraph.explain(
      "(Add (Mul (Num 1) (Var \"x\")) (Var \"x\")) = "
      "(Mul (Num 2) (Var \"x\"))");
  std::cout << egraph.text(why) << "checked: " << (egraph.check(why).accepted ? "yes" : "no")
            << "\n\n"
            << egraph.why_not("fold at (Add (Mul (Num 1) (Var \"x\")) (Var \"x\"))").text();
}
