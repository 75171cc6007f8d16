#include "luminal/egraph/extract/extract.h"

#include "luminal/base/errors.h"
#include "luminal/egraph/egraph.h"

#include <gtest/gtest.h>

#include <string>

namespace luminal::egraph {
namespace {

std::string first_output(const std::string& text) {
  EGraph egraph;
  try {
    return egraph.run_program(text, "t.egg").outputs.at(0);
  } catch (const UserError& error) {
    return error.what();
  }
}

TEST(Extract, TakesTheCheapestTree) {
  const std::string types = "(datatype T (Num i64) (Mul T T) (Sq T :cost 4))";
  EXPECT_EQ(
      first_output(types + "(let x (Sq (Num 1))) (union x (Mul (Num 2) (Num 2))) (extract x)"),
      "(Mul (Num 2) (Num 2))");
  EXPECT_EQ(first_output("(datatype T (Num i64) (Mul T T) (Sq T :cost 2))"
                         "(let x (Sq (Num 1))) (union x (Mul (Num 2) (Num 2))) (extract x)"),
            "(Sq (Num 1))");
}

TEST(Extract, CyclesAreNoTerms) {
  const std::string types = "(datatype T (A) (F T) (G T T :cost 0))";
  EXPECT_EQ(first_output(types + "(let a (A)) (union (F a) a) (extract (F (F a)))"), "(A)");
  EXPECT_EQ(first_output(types + "(let f (F (A))) (union (G f f) f) (extract f)"), "(F (A))");
  EXPECT_EQ(first_output(types + "(let f (F (A))) (union f (A)) (delete (A)) (extract f)"),
            "t.egg:1:82: class #0 of sort T has no finite term of extractable constructors");
}

TEST(Extract, UnextractableConstructorsAreLeftOut) {
  EXPECT_EQ(first_output("(datatype T (A :unextractable) (F T)) (datatype U (B T) (C))"
                         "(let b (B (A))) (union b (C)) (extract b)"),
            "(C)");
  EXPECT_EQ(first_output("(datatype T (A :unextractable)) (extract (A))"),
            "t.egg:1:33: class #0 of sort T has no finite term of extractable constructors");
}

TEST(Extract, ValuesOfBaseSortsPrintAsThemselves) {
  EXPECT_EQ(first_output("(extract (+ 1 2))"), "3");
  EXPECT_EQ(first_output("(function f () String :no-merge) (set (f) \"a b\") (extract (f))"),
            "\"a b\"");
}

TEST(Extract, DeepTermsNeedNoCallStack) {
  EGraph egraph;
  const SortId sort = egraph.add_sort("T");
  const FunctionId zero = egraph.add_constructor("Z", {}, sort);
  const FunctionId next = egraph.add_constructor("S", {sort}, sort);
  Value x = egraph.add(zero, {});
  for (int i = 0; i < 200'000; ++i) x = egraph.add(next, {x});
  const ExtractedTerm term = egraph.extract(x, sort);
  EXPECT_EQ(term.cost, 200'001u);
  EXPECT_EQ(term.text.size(), 200'000u * 4 + 3);
}

TEST(Extract, AHugeTreeIsAnErrorAndNotAHugeText) {
  EGraph egraph;
  const SortId sort = egraph.add_sort("T");
  const FunctionId zero = egraph.add_constructor("Z", {}, sort);
  const FunctionId pair = egraph.add_constructor("P", {sort, sort}, sort);
  Value x = egraph.add(zero, {});
  for (int i = 0; i < 100; ++i) x = egraph.add(pair, {x, x});
  EXPECT_THROW(egraph.extract(x, sort), UserError);
}

// As a tree the shared square is paid twice, so the sum of squares wins; as a DAG it is not.
TEST(ExtractDag, WhatIsUsedTwiceCostsOnce) {
  EGraph egraph;
  egraph.run_program(R"((datatype E (X) (Sq E) (Big E :cost 5) (Add E E) (Mul E E) (Other :cost 20))
    (let square (Big (Sq (X))))
    (let both (Mul square square))
    (union both (Other)))",
                     "t");
  const Value both = egraph.find_term("both");
  EXPECT_EQ(egraph.extract(both, egraph.sort("E")).cost, 15u);  // (1 + 1 + 5) · 2 + 1
  const ExtractedDag dag = egraph.extract_dag(both, egraph.sort("E"));
  EXPECT_EQ(dag.cost, 8u);
  EXPECT_EQ(dag.text, "(let $t1 (Big (Sq (X))))\n(Mul $t1 $t1)");
  ASSERT_EQ(dag.nodes.size(), 4u);
  EXPECT_EQ(dag.nodes.back().function, egraph.function("Mul"));
  EXPECT_EQ(dag.nodes.back().arguments[0], dag.nodes[2].value);
}

TEST(ExtractDag, SharingChangesTheChoice) {
  EGraph egraph;
  // (F s s) costs 1 + 10 as a DAG and 21 as a tree; (G p q) costs 13 either way.
  egraph.run_program(R"((datatype E (S :cost 10) (P :cost 6) (Q :cost 6) (F E E) (G E E))
    (let f (F (S) (S)))
    (union f (G (P) (Q))))",
                     "t");
  const Value f = egraph.find_term("f");
  EXPECT_EQ(egraph.extract(f, egraph.sort("E")).text, "(G (P) (Q))");
  EXPECT_EQ(egraph.extract_dag(f, egraph.sort("E")).text, "(F (S) (S))");
}

TEST(ExtractDag, CyclesSubsumedAndUnextractableNodesAreNoWayOut) {
  EGraph egraph;
  egraph.run_program(R"((datatype E (A) (B) (F E) (G E E)) (constructor Hidden () E :unextractable)
    (let a (A)) (let loop (F a)) (union a loop) (let g (G loop a))
    (let hidden (Hidden)) (let behind (F hidden)) (subsume (A)))",
                     "t");
  const SortId sort = egraph.sort("E");
  EXPECT_THROW(egraph.extract_dag(egraph.find_term("g"), sort), UserError);
  EXPECT_THROW(egraph.extract_dag(egraph.find_term("behind"), sort), UserError);
  egraph.run_program("(union loop (B))", "t");
  EXPECT_EQ(egraph.extract_dag(egraph.find_term("g"), sort).text, "(G (B) (B))");
}

TEST(ExtractDag, IsNeverAboveTheTree) {
  EGraph egraph;
  egraph.run_program(R"((datatype* (E (L i64) (Add E E) (Mul E E) (All Es))
      (sort Es (Vec E)))
    (rewrite (Add a b) (Add b a)) (rewrite (Mul a (Add b c)) (Add (Mul a b) (Mul a c)))
    (rewrite (Add (Mul a b) (Mul a c)) (Mul a (Add b c)))
    (rewrite (Add a (Add b c)) (Add (Add a b) c))
    (rewrite (Add a a) (All (vec-of a a)))
    (Mul (Add (L 1) (L 2)) (Add (Mul (L 1) (L 1)) (Add (L 3) (L 3)))) (run 4))",
                     "t");
  const Snapshot snapshot = egraph.snapshot();
  size_t below = 0;
  for (uint32_t c = 0; c < snapshot.classes(); ++c) {
    const Value value = snapshot.value(ClassId{c});
    const SortId sort = snapshot.sort(ClassId{c});
    const uint64_t tree = egraph.extract(value, sort).cost,
                   dag = egraph.extract_dag(value, sort).cost;
    EXPECT_LE(dag, tree) << egraph.extract(value, sort).text;
    below += dag < tree;
  }
  EXPECT_GT(below, 0u);
}

}  // namespace
}  // namespace luminal::egraph
