#include "luminal/egraph/saturate/runner.h"

#include "luminal/base/errors.h"
#include "luminal/egraph/egraph.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace luminal::egraph {
namespace {

constexpr const char* kCounting = R"((relation n (i64)) (relation le (i64 i64))
    (ruleset grow) (ruleset close)
    (rule ((n x) (< x 20)) ((n (+ x 1))) :ruleset grow :name "next")
    (rule ((n x)) ((le x x)) :ruleset close :name "reflexive")
    (rule ((n x) (n y) (< x y)) ((le x y)) :ruleset close :name "less")
    (n 0))";

size_t size_of(const EGraph& egraph, const char* function) {
  return egraph.size(egraph.function(function));
}

TEST(Runner, SchedulesNestAsWritten) {
  EGraph egraph;
  egraph.run_program(kCounting, "t");
  const RulesetId grow = egraph.ruleset("grow"), close = egraph.ruleset("close");
  RunReport report = egraph.run(Schedule::repeat(3, {Schedule::run(grow)}));
  EXPECT_EQ(size_of(egraph, "n"), 4u);
  EXPECT_EQ(size_of(egraph, "le"), 0u);
  EXPECT_TRUE(report.changed);
  EXPECT_EQ(report.iterations.size(), 3u);
  egraph.run(Schedule::sequence({Schedule::run(grow), Schedule::saturate(close)}));
  EXPECT_EQ(size_of(egraph, "le"), 15u);
  egraph.run_program("(run-schedule (saturate grow close))", "t");
  EXPECT_EQ(size_of(egraph, "n"), 21u);
  EXPECT_EQ(size_of(egraph, "le"), 231u);
  report = egraph.run(Schedule::saturate({Schedule::run(grow), Schedule::run(close)}));
  EXPECT_FALSE(report.changed);
  EXPECT_EQ(report.stop, StopReason::Finished);
}

TEST(Runner, AnIdleRulesetIsSkippedAndANewRuleIsNot) {
  EGraph egraph;
  egraph.run_program(kCounting, "t");
  const RulesetId grow = egraph.ruleset("grow");
  egraph.run(Schedule::saturate(grow));
  RunReport report = egraph.run(Schedule::run(grow));
  EXPECT_TRUE(report.iterations.empty());
  EXPECT_TRUE(report.rules.empty());
  egraph.run_program("(rule ((n 3)) ((n 100)) :ruleset grow)", "t");
  report = egraph.run(Schedule::run(grow));
  EXPECT_EQ(report.rule(RuleId{1}).searches, 0u);
  EXPECT_EQ(report.rule(RuleId{4}).matches, 1u);
  EXPECT_EQ(size_of(egraph, "n"), 22u);
}

TEST(Runner, AReportCountsPerRuleAndIteration) {
  EGraph egraph;
  egraph.run_program(R"((datatype T (N i64) (Add T T) (Seen T))
      (rewrite (Add x y) (Add y x) :name "commute")
      (rule ((= x (N n)) (= y (N n))) ((union x y)) :name "nothing new")
      (Add (N 1) (N 2)))",
                     "t");
  const RunReport report = egraph.run(Schedule::saturate(kDefaultRuleset));
  EXPECT_EQ(report.summary(), "finished: 2 iterations, 4 tuples, 3 classes");
  const RuleReport commute = report.rule(RuleId{1}), nothing = report.rule(RuleId{2});
  EXPECT_EQ(commute.matches, 2u);
  EXPECT_EQ(commute.new_tuples, 1u);
  EXPECT_EQ(commute.unions, 1u);
  EXPECT_EQ(nothing.matches, 2u);
  EXPECT_EQ(nothing.new_facts(), 0u);
  ASSERT_EQ(report.iterations.size(), 2u);
  EXPECT_EQ(report.iterations[0].matches, 3u);
  EXPECT_EQ(report.iterations[0].new_tuples, 1u);
  EXPECT_EQ(report.iterations[0].tuples, 4u);
  EXPECT_EQ(report.iterations[1].new_tuples, 0u);
}

constexpr const char* kExplosive = R"((datatype T (N i64) (Add T T))
    (rule ((N a) (N b)) ((Add (N a) (N b))) :name "all pairs")
    (rule ((= x (N n))) ((N (+ n 1))) :name "count up")
    (rewrite (Add x y) (Add y x) :name "commute")
    (N 0))";

TEST(Runner, TheNodeLimitIsAnOutcomeThatNamesTheRule) {
  EGraph egraph;
  egraph.run_program(kExplosive, "t");
  const RunReport report = egraph.run(Schedule::saturate(kDefaultRuleset), {.nodes = 500});
  EXPECT_EQ(report.stop, StopReason::NodeLimit);
  EXPECT_EQ(report.culprit, "all pairs");
  EXPECT_EQ(report.summary().substr(0, 55),
            "stopped at the limit of nodes, look at rule 'all pairs'");
  EXPECT_GE(report.tuples, 400u);
  EXPECT_LE(report.tuples, 501u);
}

TEST(Runner, TheByteLimitIsAnOutcomeThatNamesTheRule) {
  EGraph egraph;
  egraph.run_program(kExplosive, "t");
  constexpr uint64_t kLimit = 1'000'000;
  const RunReport report = egraph.run(Schedule::saturate(kDefaultRuleset), {.bytes = kLimit});
  EXPECT_EQ(report.stop, StopReason::ByteLimit);
  EXPECT_EQ(report.culprit, "all pairs");
  EXPECT_GT(egraph.bytes(), kLimit / 4);
  EXPECT_LT(egraph.bytes(), 2 * kLimit);
}

// A rule that doubles what it finds, which no limit of nodes ends.
TEST(Runner, StringsAndContainersCountAsBytes) {
  const std::string kPrograms[] = {
      R"((relation r (String)) (r "aaaaaaaaaaaaaaaa")
         (rule ((r x)) ((r (+ x x))) :name "double"))",
      R"((relation r (String)) (r "aaaaaaaaaaaaaaaa")
         (rule ((r x)) ((r (replace x "a" "aa"))) :name "double"))",
      R"((relation r (String)) (r "aaaaaaaaaaaaaaaa")
         (rule ((r x) (= y (+ x x))) ((r y)) :name "double"))",
      R"((sort V (Vec i64)) (relation r (V)) (r (vec-of 1 2 3 4))
         (rule ((r x)) ((r (vec-append x x))) :name "double"))",
      R"((sort S (Set i64)) (relation r (S)) (relation n (i64)) (r (set-of 1)) (n 1)
         (rule ((r x) (n i)) ((r (set-insert x (+ i 1))) (n (+ i 1))) :name "double"))"};
  for (const std::string& program : kPrograms) {
    EGraph egraph;
    egraph.run_program(program, "t");
    const RunReport report =
        egraph.run(Schedule::saturate(kDefaultRuleset), {.bytes = 1'000'000, .seconds = 10});
    EXPECT_EQ(report.stop, StopReason::ByteLimit) << program;
    EXPECT_EQ(report.culprit, "double") << program;
    egraph.run_program("(r (" +
                           std::string(program.find("Vec") < 20   ? "vec-of 7"
                                       : program.find("Set") < 20 ? "set-of 7"
                                                                  : "+ \"b\" \"c\"") +
                           "))",
                       "t");  // the limit was the run's
  }
}

TEST(Runner, ConstantsHaveALimitWhereNoneIsGiven) {
  EGraph egraph;
  egraph.run_program(R"((relation r (String)) (r "aaaaaaaaaaaaaaaa")
                        (rule ((r x)) ((r (+ x x x x x x x x)))))",
                     "t");
  const RunReport report = egraph.run(Schedule::saturate(kDefaultRuleset));
  EXPECT_EQ(report.stop, StopReason::ByteLimit);
}

TEST(Runner, TheMatchLimitStopsBeforeTheIterationChangesAnything) {
  EGraph egraph;
  egraph.run_program(kExplosive, "t");
  const RunReport report =
      egraph.run(Schedule::saturate(kDefaultRuleset), {.matches_per_rule = 50});
  EXPECT_EQ(report.stop, StopReason::MatchLimit);
  EXPECT_EQ(report.culprit, "commute");
  EXPECT_EQ(report.tuples, report.iterations.back().tuples);
}

TEST(Runner, TheTimeLimitNamesTheBusiestRule) {
  EGraph egraph;
  egraph.run_program(R"((function f () i64 :merge (max old new)) (set (f) 0)
      (rule ((= x (f))) ((set (f) (+ x 1))) :name "forever"))",
                     "t");
  const RunReport report = egraph.run(Schedule::saturate(kDefaultRuleset), {.seconds = 0.05});
  EXPECT_EQ(report.stop, StopReason::TimeLimit);
  EXPECT_EQ(report.culprit, "forever");
  EXPECT_EQ(egraph.tuples(), 1u);
}

TEST(Runner, TheIterationLimitIsAnOutcomeToo) {
  EGraph egraph;
  egraph.run_program(kExplosive, "t");
  const RunReport report = egraph.run(Schedule::saturate(kDefaultRuleset), {.iterations = 3});
  EXPECT_EQ(report.stop, StopReason::IterationLimit);
  EXPECT_EQ(report.iterations.size(), 3u);
}

TEST(Runner, AProgramSaysThatALimitStoppedIt) {
  EGraph egraph;
  egraph.run_program(kExplosive, "t");
  ProgramOptions options;
  options.limits.nodes = 100;
  const ProgramResult result = egraph.run_program("(run-schedule (saturate (run)))", "t", options);
  ASSERT_EQ(result.outputs.size(), 1u);
  EXPECT_EQ(result.outputs[0], result.runs.at(0).summary());
}

// Whatever limit cuts a run short, running on reaches what an unlimited run reaches.
TEST(Runner, AStoppedRunCanBeContinued) {
  const std::string program = R"((relation e (i64 i64)) (relation p (i64 i64))
      (rule ((e x y)) ((p x y)))
      (rule ((p x y) (p y z)) ((p x z)))
      (e 1 2) (e 2 3) (e 3 4) (e 4 5) (e 5 6) (e 6 7) (e 7 1))";
  EGraph whole;
  whole.run_program(program, "t");
  whole.run(Schedule::saturate(kDefaultRuleset));
  EXPECT_EQ(size_of(whole, "p"), 49u);
  EGraph parts;
  parts.run_program(program, "t");
  for (uint64_t nodes = 8; nodes < 56; nodes += 3) {
    const RunReport report = parts.run(Schedule::saturate(kDefaultRuleset), {.nodes = nodes});
    EXPECT_EQ(report.stop, StopReason::NodeLimit);
  }
  parts.run(Schedule::saturate(kDefaultRuleset), {.matches_per_rule = 10});
  parts.run(Schedule::saturate(kDefaultRuleset));
  EXPECT_EQ(size_of(parts, "p"), 49u);
}

TEST(Runner, TwentyRepeatsAreTheSameToTheByte) {
  std::string first;
  for (int i = 0; i < 20; ++i) {
    EGraph egraph;
    egraph.run_program(R"((datatype Math (Num i64) (Var String) (Add Math Math) (Mul Math Math))
        (function low (Math) i64 :merge (min old new))
        (rewrite (Add a b) (Add b a))
        (rewrite (Mul a b) (Mul b a))
        (rewrite (Add a (Add b c)) (Add (Add a b) c))
        (rewrite (Mul a (Add b c)) (Add (Mul a b) (Mul a c)))
        (rewrite (Add (Num x) (Num y)) (Num (+ x y)))
        (rule ((= e (Num n))) ((set (low e) n)))
        (rule ((= e (Add a b)) (= x (low a)) (= y (low b))) ((set (low e) (+ x y))))
        (Mul (Add (Var "x") (Num 2)) (Add (Num 3) (Add (Var "y") (Num 4)))))",
                       "t");
    const RunReport report =
        egraph.run(Schedule::repeat(5, {Schedule::run(kDefaultRuleset)}), {.nodes = 3000});
    const std::string dump = report.text(false) + egraph.dump();
    if (i == 0) first = dump;
    ASSERT_EQ(dump, first);
  }
  EXPECT_GT(first.size(), 5000u);
}

// Stacked layers of one shape, as a compiler has them: growth must be linear in their number.
size_t tuples_of_layers(int layers, double* seconds) {
  EGraph egraph;
  egraph.run_program(R"((datatype T (In i64) (Add T T) (Mul T T) (Exp T) (Recip T) (Sum i64 T)
                                    (Load T) (Store T) (Matmul T T) (View i64 T))
      (function rank (T) i64 :merge (min old new))
      (rule ((= t (In n))) ((set (rank t) 2)) :name "rank of in")
      (rule ((= t (Add a b)) (= n (rank a))) ((set (rank t) n)) :name "rank of add")
      (rule ((= t (Mul a b)) (= n (rank a))) ((set (rank t) n)) :name "rank of mul")
      (rule ((= t (Exp a)) (= n (rank a))) ((set (rank t) n)) :name "rank of exp")
      (rule ((= t (Recip a)) (= n (rank a))) ((set (rank t) n)) :name "rank of recip")
      (rule ((= t (Sum k a)) (= n (rank a))) ((set (rank t) n)) :name "rank of sum")
      (rule ((= t (View k a)) (= n (rank a))) ((set (rank t) n)) :name "rank of view")
      (rewrite (Store (Load x)) x :name "store of load")
      (rewrite (View a (View b x)) (View (+ a b) x) :name "compose")
      (rewrite (View 0 x) x :name "identity")
      (rewrite (Sum k (Mul (View a x) (View b y))) (Load (Matmul (Store x) (Store y)))
        :when ((= a 1) (= b 2)) :name "matmul")
      (rewrite (Sum k (Mul x (Recip y))) (Mul (Sum k x) (Recip y)) :when ((= 2 (rank y)))
        :name "hoist"))",
                     "t");
  const auto call = [&](const char* name, std::initializer_list<Value> arguments) {
    return egraph.add(egraph.function(name), arguments);
  };
  const auto number = [&](int64_t n) { return egraph.constants().intern(n); };
  Value x = call("In", {number(0)});
  for (int layer = 0; layer < layers; ++layer) {
    for (int head = 0; head < 12; ++head) {
      const Value w = call("In", {number(1 + 100 * layer + head)});
      const Value product = call("Mul", {call("View", {number(1), call("View", {number(0), x})}),
                                         call("View", {number(2), w})});
      const Value y = call("Sum", {number(1), product});
      const Value e = call("Exp", {y});
      const Value scaled = call("Mul", {e, call("Recip", {call("Sum", {number(1), e})})});
      x = call("Add", {x, call("Sum", {number(1), scaled})});
    }
  }
  const RunReport report = egraph.run(Schedule::saturate(kDefaultRuleset));
  EXPECT_EQ(report.stop, StopReason::Finished);
  *seconds = report.search_seconds + report.apply_seconds + report.rebuild_seconds;
  return report.tuples;
}

TEST(Runner, TwelveLayersSaturateInLinearSpaceAndWellUnderASecond) {
  double seconds = 0;
  const size_t one = tuples_of_layers(1, &seconds), two = tuples_of_layers(2, &seconds);
  const size_t twelve = tuples_of_layers(12, &seconds);
  EXPECT_EQ(twelve, one + 11 * (two - one));
  EXPECT_GT(twelve, 3000u);
  RecordProperty("tuples", static_cast<int>(twelve));
  RecordProperty("milliseconds", std::to_string(seconds * 1e3));
  std::printf("12 layers: %zu tuples, %.1f ms\n", twelve, seconds * 1e3);
  EXPECT_LT(seconds, 1.0);
}

}  // namespace
}  // namespace luminal::egraph
