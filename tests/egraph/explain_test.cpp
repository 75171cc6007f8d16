#include "luminal/egraph/explain/explain.h"

#include "luminal/base/errors.h"
#include "luminal/egraph/egraph.h"
#include "tests/egraph/altered_proofs.h"

#include <gtest/gtest.h>

#include <string>

namespace luminal::egraph {
namespace {

EGraph recorded(std::string_view program) {
  EGraph egraph;
  egraph.record_proofs();
  egraph.run_program(program, "t");
  return egraph;
}

std::string error_of(EGraph& egraph, std::string_view question) {
  try {
    egraph.explain(question);
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// Accepted, and rejected with any one place altered.
void expect_sound(EGraph& egraph, const Explanation& explanation, size_t least_altered) {
  MutationCounts counts;
  alter(egraph, explanation, counts);
  EXPECT_EQ(counts.failure, "");
  EXPECT_EQ(counts.rejected, counts.altered);
  EXPECT_GE(counts.altered, least_altered);
}

constexpr const char* kMath = R"((datatype M (Num i64) (Var String) (Add M M) (Mul M M) (F M))
    (rewrite (Add a b) (Add b a) :name "commute")
    (rewrite (Mul a (Num 1)) a :name "mul-one")
    (rewrite (Add (Num x) (Num y)) (Num (+ x y)) :when ((< x y)) :name "fold")
    (let e (F (Mul (Var "x") (Num 1))))
    (F (Add (Num 3) (Num 2)))
    (run 4))";

TEST(Explain, TheChainAndWhatItRestsOn) {
  EGraph egraph = recorded(kMath);
  const Explanation explanation = egraph.explain("(F (Var \"x\")) = e");
  EXPECT_EQ(
      egraph.text(explanation),
      "(F (Var \"x\"))\n"
      "  = (F (Mul (Var \"x\") (Num 1)))   by step 4, congruence\n"
      "steps\n"
      "  1. (Num 1) is there   by a command\n"
      "  2. (Mul (Var \"x\") (Num 1)) is there   by a command\n"
      "  3. (Mul (Var \"x\") (Num 1)) = (Var \"x\")   by rule 'mul-one' with a := (Var \"x\"), "
      "from steps 1, 2\n"
      "  4. (F (Var \"x\")) = (F (Mul (Var \"x\") (Num 1)))   because (Var \"x\") = (Mul (Var "
      "\"x\") (Num 1)) (step 3)\n");
  expect_sound(egraph, explanation, 40);
}

TEST(Explain, ConditionsAreReplayed) {
  EGraph egraph = recorded(kMath);
  const Explanation explanation = egraph.explain("(F (Add (Num 3) (Num 2))) = (F (Num 5))");
  EXPECT_NE(egraph.text(explanation).find("by rule 'fold' with x := 2, y := 3"), std::string::npos);
  expect_sound(egraph, explanation, 80);
}

TEST(Explain, LongTermsAreWrittenOnceAndNamed) {
  EGraph egraph = recorded(R"((datatype M (Num i64) (Add M M))
      (rewrite (Add a b) (Add b a) :name "commute")
      (let s (Add (Add (Add (Num 1) (Num 2)) (Add (Num 3) (Num 4))) (Num 5)))
      (run 1))");
  const std::string text = egraph.text(
      egraph.explain("s = (Add (Num 5) (Add (Add (Num 1) (Num 2)) (Add (Num 3) (Num 4))))"));
  EXPECT_NE(text.find("\nwhere\n  t1 = (Add (Add (Add (Num 1)"), std::string::npos) << text;
}

TEST(Explain, MergedValuesOfFunctionsCount) {
  EGraph egraph = recorded(R"((datatype T (Leaf i64) (Join T T))
      (function low (T) i64 :merge (min old new))
      (function best (i64) T :merge (Join old new))
      (relation seen (T i64))
      (rule ((seen t n)) ((set (low t) n)) :name "seen")
      (rule ((= 2 (low t)) (= u (best 1))) ((union t u)) :name "low is best")
      (seen (Leaf 7) 5) (seen (Leaf 8) 2) (union (Leaf 7) (Leaf 8))
      (set (best 1) (Leaf 10)) (set (best 1) (Leaf 20))
      (run 5))");
  const Explanation explanation = egraph.explain("(Leaf 7) = (Join (Leaf 10) (Leaf 20))");
  const std::string text = egraph.text(explanation);
  EXPECT_NE(text.find("(best 1) has value (Join (Leaf 10) (Leaf 20))   by a merge"),
            std::string::npos)
      << text;
  expect_sound(egraph, explanation, 80);
}

TEST(Explain, FactsOfRelationsAreDerived) {
  EGraph egraph = recorded(R"((datatype Node (N i64))
      (relation edge (Node Node)) (relation path (Node Node))
      (rule ((edge x y)) ((path x y)) :name "step")
      (rule ((path x y) (edge y z)) ((path x z)) :name "further")
      (rule ((path x y) (path y x)) ((union x y)) :name "cycle")
      (edge (N 1) (N 2)) (edge (N 2) (N 3)) (edge (N 3) (N 1)) (edge (N 3) (N 4))
      (run 6))");
  expect_sound(egraph, egraph.explain("(N 1) = (N 3)"), 80);
  EXPECT_EQ(error_of(egraph, "(N 1) = (N 4)"), "(N 1) and (N 4) aren't equal in this e-graph");
}

TEST(Explain, LookUpsOfNaiveRulesAreCited) {
  EGraph egraph = recorded(R"((datatype T (A) (B))
      (function to (T) T :no-merge)
      (relation go (T))
      (rule ((go x)) ((union x (to x))) :naive :name "go")
      (set (to (A)) (B)) (go (A))
      (run 1))");
  expect_sound(egraph, egraph.explain("(A) = (B)"), 20);
}

TEST(Explain, ContainersAreEqualByTheirItems) {
  EGraph egraph = recorded(R"((datatype T (Leaf i64))
      (sort Ts (Vec T)) (sort Bag (Set T))
      (constructor Node (Ts) T) (constructor All (Bag) T)
      (let v (Node (vec-of (Leaf 1) (Leaf 2)))) (let w (Node (vec-of (Leaf 3) (Leaf 2))))
      (let s (All (set-of (Leaf 1) (Leaf 2)))) (let t (All (set-of (Leaf 2) (Leaf 3))))
      (union (Leaf 1) (Leaf 3)))");
  expect_sound(egraph, egraph.explain("v = w"), 10);
  expect_sound(egraph, egraph.explain("s = t"), 5);
}

TEST(Explain, TermsAreTakenOutOfContainersAndPutIn) {
  EGraph egraph = recorded(R"((datatype T (Leaf i64)) (sort Ts (Vec T)) (constructor Node (Ts) T)
      (rule ((= n (Node v)) (= x (vec-get v 0)) (!= n x)) ((union n x)) :name "first")
      (rule ((= n (Node v))) ((Node (vec-push v n))) :name "longer")
      (let v (Node (vec-of (Leaf 1) (Leaf 2))))
      (union (Leaf 1) (Leaf 3))
      (run 2))");
  expect_sound(egraph, egraph.explain("v = (Leaf 3)"), 30);
  expect_sound(egraph, egraph.explain("(Leaf 3) = (Node (vec-of (Leaf 1) (Leaf 2) v))"), 40);
}

TEST(Explain, ComparingTermsInContainersIsRefused) {
  EGraph egraph = recorded(R"((datatype T (Leaf i64)) (sort Ts (Vec T)) (constructor Node (Ts) T)
      (rule ((= n (Node v)) (= x (Leaf 1)) (vec-contains v x)) ((union n x)) :name "has one")
      (let v (Node (vec-of (Leaf 1) (Leaf 2))))
      (run 1))");
  EXPECT_EQ(
      error_of(egraph, "v = (Leaf 1)"),
      "rule 'has one' computes (vec-contains …) with terms, on which this equality rests; such "
      "steps aren't explained yet");
}

// Both rules match before either acts, so the second sees terms that differ still.
TEST(Explain, ConditionsAreAsOfTheSearch) {
  EGraph egraph = recorded(R"((datatype T (A) (B) (C) (G T)) (relation r (T T))
      (rule ((r x y)) ((union x y)) :name "same")
      (rule ((r x y) (!= x y)) ((union (C) (G x))) :name "differ")
      (r (A) (B)) (G (B))
      (run 1))");
  const Explanation explanation = egraph.explain("(G (B)) = (C)");
  expect_sound(egraph, explanation, 40);
  Explanation late = explanation;
  for (uint32_t i = 0; i < late.steps.size(); ++i) {
    if (late.steps[i].rule == "differ") late.steps[i].known_steps = i;
  }
  EXPECT_EQ(egraph.check(late).accepted, false);
}

TEST(Explain, AnExplanationHoldsAfterPushAndPop) {
  EGraph egraph = recorded(R"((datatype T (A) (B) (C))
      (union (A) (B)) (push) (union (B) (C)) (pop) (union (C) (A)))");
  expect_sound(egraph, egraph.explain("(B) = (C)"), 10);
}

TEST(Explain, ValuesAreExplainedAsTheTermsTheyWereGivenTo) {
  EGraph egraph;
  egraph.record_proofs();
  const SortId sort = egraph.add_sort("T");
  const FunctionId leaf = egraph.add_constructor("Leaf", {egraph.sort("i64")}, sort);
  const FunctionId f = egraph.add_constructor("F", {sort}, sort);
  const Value a = egraph.add(leaf, {egraph.constants().intern(int64_t{1})});
  const Value b = egraph.add(leaf, {egraph.constants().intern(int64_t{2})});
  const Value fa = egraph.add(f, {a}), fb = egraph.add(f, {b});
  egraph.union_values(a, b);
  const Explanation explanation = egraph.explain(fa, fb);
  EXPECT_EQ(egraph.text(explanation),
            "(F (Leaf 1))\n"
            "  = (F (Leaf 2))   by step 2, congruence\n"
            "steps\n"
            "  1. (Leaf 1) = (Leaf 2)   by a command\n"
            "  2. (F (Leaf 1)) = (F (Leaf 2))   because (Leaf 1) = (Leaf 2) (step 1)\n");
  EXPECT_TRUE(egraph.check(explanation).accepted);
  EXPECT_EQ(egraph.explain(fa, fa).chain.size(), 0u);
  EXPECT_THROW(egraph.explain(a, fa), UserError);
}

TEST(Explain, TheRejectedStepIsNamed) {
  EGraph egraph = recorded(kMath);
  Explanation explanation = egraph.explain("(F (Var \"x\")) = e");
  explanation.steps[2].rule = "commute";
  EXPECT_EQ(egraph.check(explanation).why, "step 3: a variable of the rule stands for nothing");
  explanation.steps[2].rule = "no such rule";
  EXPECT_EQ(egraph.check(explanation).why, "step 3: there is no rule 'no such rule'");
}

TEST(Explain, RecordingIsOffUnlessAskedForAtTheStart) {
  EGraph egraph;
  egraph.run_program("(datatype T (A) (B)) (union (A) (B))", "t");
  EXPECT_EQ(error_of(egraph, "(A) = (B)"),
            "proofs weren't recorded; ask for them before anything is added");
  EXPECT_THROW(egraph.record_proofs(), UserError);
}

TEST(Explain, RecordingChangesNothingElse) {
  EGraph with = recorded(kMath), without;
  without.run_program(kMath, "t");
  EXPECT_EQ(with.dump(), without.dump());
}

TEST(Explain, WrongQuestionsSayWhatIsExpected) {
  EGraph egraph = recorded(kMath);
  EXPECT_EQ(error_of(egraph, "e"), "'e' is not an equality; ask 'TERM = TERM'");
  EXPECT_EQ(error_of(egraph, "e = (Num 77)"),
            "(Num 77) isn't in the e-graph: there is no (Num 77)");
  EXPECT_EQ(error_of(egraph, "1 = 1"),
            "1 is of sort i64, whose values aren't made equal; ask about terms");
}

TEST(Explain, JsonHasTermsStepsAndChain) {
  EGraph egraph = recorded("(datatype T (A) (B)) (union (A) (B))");
  EXPECT_EQ(egraph.json(egraph.explain("(A) = (B)")), R"({
  "left": "#0",
  "right": "#1",
  "terms": [
    {"id": "#0", "function": "A", "arguments": []},
    {"id": "#1", "function": "B", "arguments": []}
  ],
  "steps": [
    {"kind": "union", "left": "#0", "right": "#1", "cause": "command"}
  ],
  "chain": [
    {"step": 1, "reversed": false}
  ]
}
)");
}

}  // namespace
}  // namespace luminal::egraph
