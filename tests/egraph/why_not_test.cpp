#include "luminal/egraph/why_not.h"

#include "luminal/base/errors.h"
#include "luminal/egraph/egraph.h"

#include <gtest/gtest.h>

#include <string>

namespace luminal::egraph {
namespace {

constexpr const char* kProgram = R"((datatype M (Num i64) (Var String) (Add M M) (Mul M M) (Neg M))
    (function low (M) i64 :merge (min old new))
    (relation same-shape (M M))
    (rewrite (Mul a (Add b c)) (Add (Mul a b) (Mul a c)) :name "distribute")
    (rewrite (Add (Num x) (Num y)) (Num (+ x y)) :when ((< x y)) :name "fold")
    (rewrite (Add x x) (Mul (Num 2) x) :name "double")
    (rewrite (Neg x) x :when ((= 0 (low x))) :name "neg-zero")
    (rule ((= e (Add a b)) (same-shape a b) (Neg a)) ((Neg e)) :name "lift")
    (rewrite (Mul x (Num 0)) (Num 0) :name "zero at last")
    (let y (Var "y"))
    (let p (Mul (Num 2) (Neg y)))
    (let q (Add (Num 7) (Num 3)))
    (union (Var "n") (Neg (Num 5)))
    (set (low (Num 5)) 5)
    (Add (Num 1) (Num 2))
    (same-shape y (Num 2)) (same-shape (Num 2) y))";

EGraph make() {
  EGraph egraph;
  egraph.run_program(kProgram, "t");
  return egraph;
}

std::string ask(EGraph& egraph, std::string_view question) {
  return egraph.why_not(question).text();
}

TEST(WhyNot, AMissingTermIsNamedWithWhatStandsThereInstead) {
  EGraph egraph = make();
  EXPECT_EQ(ask(egraph, "distribute at p"),
            "rule 'distribute' doesn't match p\n"
            "  found    (Mul (Num 2) (Neg (Var \"y\")))\n"
            "  missing  (Add ?b ?c) isn't in the class of (Neg (Var \"y\"))\n"
            "  instead  (Neg (Var \"y\"))\n"
            "  with     a = (Num 2)\n");
  EXPECT_EQ(ask(egraph, "\"distribute\" at (Num 7)"),
            "rule 'distribute' doesn't match (Num 7)\n"
            "  missing  (Mul ?a (Add ?b ?c)) isn't in the class of (Num 7)\n"
            "  instead  (Num 7)\n");
}

TEST(WhyNot, AFailedConditionIsShownWithItsValues) {
  EGraph egraph = make();
  const WhyNot why = egraph.why_not("fold at q");
  EXPECT_EQ(why.outcome, WhyNot::Outcome::FailedGuard);
  EXPECT_EQ(why.subject, "(< 7 3)");
  EXPECT_EQ(why.text(),
            "rule 'fold' doesn't match q\n"
            "  found    (Add (Num 7) (Num 3))\n"
            "  found    (Num 7)\n"
            "  found    (Num 3)\n"
            "  failed   (< 7 3) doesn't hold\n"
            "  with     x = 7\n"
            "  with     y = 3\n");
}

TEST(WhyNot, AVariableThatStandsTwiceMustBeEqual) {
  EGraph egraph = make();
  EXPECT_EQ(ask(egraph, "double at q"),
            "rule 'double' doesn't match q\n"
            "  missing  (Add ?x ?x) isn't in the class of (Add (Num 7) (Num 3))\n"
            "  instead  (Add (Num 7) (Num 3))\n");
}

TEST(WhyNot, AValueThatDiffersIsShown) {
  EGraph egraph = make();
  EXPECT_EQ(ask(egraph, "neg-zero at (Neg (Num 5))"),
            "rule 'neg-zero' doesn't match (Neg (Num 5))\n"
            "  found    (Neg (Num 5))\n"
            "  missing  (= (low (Num 5)) 0) isn't there\n"
            "  instead  (low (Num 5)) = 5\n"
            "  with     x = (Num 5)\n");
  EXPECT_EQ(ask(egraph, "neg-zero at (Neg y)"),
            "rule 'neg-zero' doesn't match (Neg y)\n"
            "  found    (Neg (Var \"y\"))\n"
            "  missing  (= (low (Var \"y\")) 0) isn't there\n"
            "  instead  (low (Num 5)) = 5\n"
            "  with     x = (Var \"y\")\n");
}

TEST(WhyNot, ConstantsOfTheRuleCount) {
  EGraph egraph = make();
  EXPECT_EQ(ask(egraph, "zero at last at (Mul (Num 2) (Neg y))"),
            "rule 'zero at last' doesn't match (Mul (Num 2) (Neg y))\n"
            "  found    (Mul (Num 2) (Neg (Var \"y\")))\n"
            "  missing  (Num 0) isn't in the class of (Neg (Var \"y\"))\n"
            "  instead  (Neg (Var \"y\"))\n"
            "  with     x = (Num 2)\n");
}

TEST(WhyNot, OfAllPartialMatchesTheFurthestIsExplained) {
  EGraph egraph;
  // Two terms in one class: the second gets further.
  egraph.run_program(R"((datatype M (Num i64) (Add M M) (Neg M))
      (rewrite (Add (Neg x) (Num n)) x :when ((> n 10)) :name "r")
      (let a (Add (Num 1) (Num 2)))
      (union a (Add (Neg (Num 1)) (Num 3))))",
                     "t");
  EXPECT_EQ(ask(egraph, "r at a"),
            "rule 'r' doesn't match a\n"
            "  found    (Add (Neg (Num 1)) (Num 3))\n"
            "  found    (Neg (Num 1))\n"
            "  found    (Num 3)\n"
            "  failed   (> 3 10) doesn't hold\n"
            "  with     n = 3\n"
            "  with     x = (Num 1)\n");
}

TEST(WhyNot, OtherRulesTryEveryVariableOfTheSortUnlessOneIsNamed) {
  EGraph egraph = make();
  EXPECT_EQ(ask(egraph, "lift at q"),
            "rule 'lift' doesn't match q\n"
            "  found    (Add (Num 7) (Num 3))\n"
            "  missing  (same-shape (Num 7) (Num 3)) doesn't hold\n"
            "  instead  (same-shape (Var \"y\") (Num 2))\n"
            "  instead  (same-shape (Num 2) (Var \"y\"))\n"
            "  with     a = (Num 7)\n"
            "  with     b = (Num 3)\n"
            "  with     e = (Add (Num 7) (Num 3))\n");
  const WhyNot why = egraph.why_not("lift at b=y");
  EXPECT_EQ(why.subject, "(Add ?a (Var \"y\"))");
  EXPECT_EQ(why.detail, "isn't there");
  EXPECT_EQ(egraph.why_not("lift at 7").outcome, WhyNot::Outcome::NothingFits);
  EXPECT_EQ(egraph.why_not("fold at x=7").outcome, WhyNot::Outcome::FailedGuard);
}

TEST(WhyNot, AMatchIsOneAndSaysWhetherTheRuleRan) {
  EGraph egraph = make();
  const auto says = [&](const char* detail) {
    const WhyNot why = egraph.why_not("fold at (Add (Num 1) (Num 2))");
    EXPECT_EQ(why.outcome, WhyNot::Outcome::Matches);
    EXPECT_EQ(why.detail, detail);
  };
  says("the rule wasn't run yet");
  egraph.run_program("(run 3)", "t");
  says("the rule was applied to it");
  egraph.run_program("(Add (Num 1) (Num 9))", "t");
  EXPECT_EQ(egraph.why_not("fold at (Add (Num 1) (Num 9))").text(),
            "rule 'fold' matches (Add (Num 1) (Num 9)): the rule wasn't run since these facts last "
            "changed\n"
            "  found    (Add (Num 1) (Num 9))\n"
            "  found    (Num 1)\n"
            "  found    (Num 9)\n"
            "  found    (< 1 9)\n"
            "  with     x = 1\n"
            "  with     y = 9\n");
}

TEST(WhyNot, ATermThatIsNotThereNamesItsMissingPart) {
  EGraph egraph = make();
  const size_t tuples = egraph.tuples();
  EXPECT_EQ(ask(egraph, "fold at (Add (Num 7) (Neg (Num 33)))"),
            "(Add (Num 7) (Neg (Num 33))) isn't in the e-graph: there is no (Num 33)\n");
  EXPECT_EQ(ask(egraph, "fold at (Add (Num 3) (Num 7))"),
            "(Add (Num 3) (Num 7)) isn't in the e-graph: there is no (Add (Num 3) (Num 7))\n");
  EXPECT_EQ(egraph.tuples(), tuples) << "a question must add nothing";
}

TEST(WhyNot, LongListsSayHowManyTheyLeaveOut) {
  EGraph egraph;
  egraph.run_program(
      "(datatype M (Num i64) (Neg M)) (rewrite (Neg x) x :name \"r\") (let a (Num 0))", "t");
  for (int i = 1; i < 9; ++i) egraph.run_program("(union a (Num " + std::to_string(i) + "))", "t");
  const WhyNot why = egraph.why_not("r at a");
  EXPECT_EQ(why.instead.size(), 5u);
  EXPECT_EQ(why.instead_left_out, 4u);
  EXPECT_NE(why.text().find("and 4 more"), std::string::npos);
}

std::string error_of(EGraph& egraph, std::string_view question) {
  try {
    egraph.why_not(question);
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(WhyNot, WrongQuestionsSayWhatIsThere) {
  EGraph egraph = make();
  EXPECT_EQ(error_of(egraph, "fold"), "'fold' is not a question; ask 'RULE at TERM'");
  EXPECT_EQ(error_of(egraph, "fald at q"),
            "there is no rule 'fald'; known: 'distribute', 'fold', 'double', 'neg-zero', 'lift', "
            "'zero at last'");
  EXPECT_EQ(error_of(egraph, "lift at z=q"), "rule 'lift' has no variable 'z'; it has a, b, e");
  EXPECT_EQ(error_of(egraph, "fold at x=q"),
            "'x' of rule 'fold' is of sort i64, the term of sort M");
  EXPECT_EQ(error_of(egraph, "fold at (Add 1 2)").substr(0, 10), "term:1:6: ");
  EXPECT_EQ(error_of(egraph, "fold at q q"), "term:1:3: expected one term, found 2");
}

// A rule with many ways to go wrong must not take forever.
TEST(WhyNot, ASearchWithoutEndIsCutShortAndSaysSo) {
  EGraph egraph;
  egraph.run_program(R"((relation r (i64)) (datatype M (Num i64))
      (rule ((= e (Num n)) (r a) (r b) (r c) (< (+ a (+ b c)) 0)) ((r n)) :name "slow")
      (let a (Num 1)))",
                     "t");
  const FunctionId r = egraph.function("r");
  for (int64_t i = 0; i < 200; ++i) egraph.add(r, {egraph.constants().intern(i)});
  const WhyNot why = egraph.why_not("slow at a");
  EXPECT_FALSE(why.complete);
  EXPECT_EQ(why.outcome, WhyNot::Outcome::FailedGuard);
  EXPECT_NE(why.text().find("cut short"), std::string::npos);
}

}  // namespace
}  // namespace luminal::egraph
