#include "luminal/egraph/extract.h"

#include "luminal/base/errors.h"
#include "luminal/egraph/egraph.h"

#include <gtest/gtest.h>

#include <string>

namespace luminal::egraph {
namespace {

std::string run(const std::string& text) {
  EGraph egraph;
  try {
    return egraph.run_program(text, "t.egg").outputs.at(0);
  } catch (const UserError& error) {
    return error.what();
  }
}

TEST(Extract, TakesTheCheapestTree) {
  const std::string types = "(datatype T (Num i64) (Mul T T) (Sq T :cost 4))";
  EXPECT_EQ(run(types + "(let x (Sq (Num 1))) (union x (Mul (Num 2) (Num 2))) (extract x)"),
            "(Mul (Num 2) (Num 2))");
  EXPECT_EQ(run("(datatype T (Num i64) (Mul T T) (Sq T :cost 2))"
                "(let x (Sq (Num 1))) (union x (Mul (Num 2) (Num 2))) (extract x)"),
            "(Sq (Num 1))");
}

TEST(Extract, CyclesAreNoTerms) {
  const std::string types = "(datatype T (A) (F T) (G T T :cost 0))";
  EXPECT_EQ(run(types + "(let a (A)) (union (F a) a) (extract (F (F a)))"), "(A)");
  EXPECT_EQ(run(types + "(let f (F (A))) (union (G f f) f) (extract f)"), "(F (A))");
  EXPECT_EQ(run(types + "(let f (F (A))) (union f (A)) (delete (A)) (extract f)"),
            "t.egg:1:82: class #0 of sort T has no finite term of extractable constructors");
}

TEST(Extract, UnextractableConstructorsAreLeftOut) {
  EXPECT_EQ(run("(datatype T (A :unextractable) (F T)) (datatype U (B T) (C))"
                "(let b (B (A))) (union b (C)) (extract b)"),
            "(C)");
  EXPECT_EQ(run("(datatype T (A :unextractable)) (extract (A))"),
            "t.egg:1:33: class #0 of sort T has no finite term of extractable constructors");
}

TEST(Extract, ValuesOfBaseSortsPrintAsThemselves) {
  EXPECT_EQ(run("(extract (+ 1 2))"), "3");
  EXPECT_EQ(run("(function f () String :no-merge) (set (f) \"a b\") (extract (f))"), "\"a b\"");
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

}  // namespace
}  // namespace luminal::egraph
