#include "luminal/egraph/report.h"

#include "luminal/egraph/egraph.h"

#include <gtest/gtest.h>

#include <string>

namespace luminal::egraph {
namespace {

constexpr const char* kGrowing = R"((datatype T (N i64) (Add T T))
    (rule ((N a) (N b)) ((Add (N a) (N b))) :name "all pairs")
    (rule ((= x (N n))) ((N (+ n 1))) :name "count up")
    (rule ((= x (Add x x))) ((union x (N 0))) :name "never")
    (N 0))";

RunReport saturated(const char* program, const RunLimits& limits) {
  EGraph egraph;
  egraph.run_program(program, "t");
  return egraph.run(Schedule::saturate(kDefaultRuleset), limits);
}

TEST(Report, TheGrowthTableNamesTheRuleBehindAnExplosion) {
  EXPECT_EQ(saturated(kGrowing, {.nodes = 40}).growth(),
            "iteration  tuples  classes  matches  new facts  ruleset  most by rule\n"
            "        1       3        3        2          2  default  all pairs, 50 %\n"
            "        2       7        7        4          4  default  all pairs, 75 %\n"
            "        3      13       13        6          6  default  all pairs, 83 %\n"
            "        4      21       21        8          8  default  all pairs, 88 %\n"
            "        5      31       31       10         10  default  all pairs, 90 %\n"
            "        6      41       41       10         10  default  all pairs, 100 %\n"
            "explosion: 1 -> 41 tuples; rule 'all pairs' added 88 % of the 40 new tuples (35)\n");
}

// How many candidates a search needs is the planner's business.
RunReport without_candidates(RunReport report) {
  for (RuleReport& rule : report.rules) rule.candidates = 0;
  for (RuleStep& step : report.steps) step.candidates = 0;
  for (IterationReport& iteration : report.iterations) iteration.candidates = 0;
  return report;
}

TEST(Report, StepsAreKeptForTheRulesThatWereSearched) {
  const RunReport report = saturated(kGrowing, {.iterations = 2});
  EXPECT_EQ(without_candidates(report).steps_text(false),
            "iteration 1, ruleset default: 3 tuples, 3 classes\n"
            "candidates  matches  new facts  tuples  updates  unions  rule\n"
            "         0        1          1       1        0       0  all pairs\n"
            "         0        1          1       1        0       0  count up\n"
            "         0        0          0       0        0       0  never\n"
            "iteration 2, ruleset default: 7 tuples, 7 classes\n"
            "candidates  matches  new facts  tuples  updates  unions  rule\n"
            "         0        3          3       3        0       0  all pairs\n"
            "         0        1          1       1        0       0  count up\n"
            "         0        0          0       0        0       0  never\n");
  ASSERT_EQ(report.steps.size(), 6u);
  EXPECT_EQ(without_candidates(report).text(false),
            "stopped at the limit of iterations, look at rule 'all pairs': 2 iterations, 7 tuples, "
            "7 classes\n"
            "candidates  matches  new facts  tuples  updates  unions  rule\n"
            "         0        4          4       4        0       0  all pairs\n"
            "         0        2          2       2        0       0  count up\n"
            "1 rule searched without a match: 0 candidates\n");
}

TEST(Report, CandidatesAreTheRowsThatSearchesLookedAt) {
  const RunReport report = saturated(R"((relation e (i64 i64)) (relation p (i64))
      (rule ((e x y) (p y)) ((p x)) :name "reach")
      (e 1 2) (e 3 4) (e 5 6) (p 9))",
                                     {});
  EXPECT_EQ(report.rule(RuleId{1}).matches, 0u);
  EXPECT_GE(report.rule(RuleId{1}).candidates, 1u);
  EXPECT_LE(report.rule(RuleId{1}).candidates, 4u);
  EXPECT_EQ(report.iterations.at(0).candidates, report.rule(RuleId{1}).candidates);
}

TEST(Report, JsonHoldsTheSameNumbers) {
  EXPECT_EQ(without_candidates(saturated(kGrowing, {.iterations = 1})).json(false), R"({
  "stop": "iteration-limit",
  "culprit": "all pairs",
  "changed": true,
  "tuples_before": 1,
  "tuples": 3,
  "classes": 3,
  "rules": [
    {"id": 1, "name": "all pairs", "searches": 1, "candidates": 0, "matches": 1, "new_facts": 1, "new_tuples": 1, "updates": 0, "removals": 0, "unions": 0},
    {"id": 2, "name": "count up", "searches": 1, "candidates": 0, "matches": 1, "new_facts": 1, "new_tuples": 1, "updates": 0, "removals": 0, "unions": 0},
    {"id": 3, "name": "never", "searches": 1, "candidates": 0, "matches": 0, "new_facts": 0, "new_tuples": 0, "updates": 0, "removals": 0, "unions": 0}
  ],
  "rulesets": [{"id": 0, "name": ""}],
  "iterations": [
    {
      "ruleset": 0,
      "candidates": 0,
      "matches": 2,
      "new_facts": 2,
      "tuples": 3,
      "classes": 3,
      "rules": [
        {"id": 1, "candidates": 0, "matches": 1, "new_facts": 1, "new_tuples": 1, "updates": 0, "removals": 0, "unions": 0},
        {"id": 2, "candidates": 0, "matches": 1, "new_facts": 1, "new_tuples": 1, "updates": 0, "removals": 0, "unions": 0},
        {"id": 3, "candidates": 0, "matches": 0, "new_facts": 0, "new_tuples": 0, "updates": 0, "removals": 0, "unions": 0}
      ]
    }
  ],
  "rule_entries_left_out": 0
})");
}

TEST(Report, TimesAreInTextAndJsonUnlessLeftOut) {
  const RunReport report = saturated(kGrowing, {.iterations = 2});
  EXPECT_NE(report.text().find(" ms, rebuild "), std::string::npos);
  EXPECT_NE(report.json().find("\"seconds\": {\"search\": "), std::string::npos);
  EXPECT_EQ(report.json(false).find("seconds"), std::string::npos);
}

TEST(Report, AMergeThatChangesAValueIsANewFactAndNoGrowth) {
  const RunReport report = saturated(R"((function f () i64 :merge (max old new)) (set (f) 0)
      (rule ((= x (f)) (< x 5)) ((set (f) (+ x 1))) :name "up"))",
                                     {});
  EXPECT_EQ(report.rule(RuleId{1}).updates, 5u);
  EXPECT_EQ(report.rule(RuleId{1}).new_facts(), 5u);
  const std::string growth = report.growth();
  EXPECT_EQ(growth.substr(growth.find("no growth")),
            "no growth: 1 -> 1 tuple; rule 'up' made 100 % of the 5 updates and unions (5)\n");
}

TEST(Report, LongGrowthTablesSayWhatTheyLeaveOut) {
  const RunReport report = saturated(R"((relation n (i64)) (n 0)
      (rule ((n x) (< x 100)) ((n (+ x 1))) :name "next"))",
                                     {});
  EXPECT_EQ(report.iterations.size(), 101u);
  EXPECT_NE(report.growth().find("… iterations 5 to 89 left out; the report as JSON holds them …\n"
                                 "       90 "),
            std::string::npos)
      << report.growth();
}

TEST(Report, AnIdleRunReportsNothingHoweverManyRulesThereAre) {
  EGraph egraph;
  std::string program = "(relation r (i64)) (r 1)\n";
  for (int i = 0; i < 400; ++i) program += "(rule ((r " + std::to_string(i) + ")) ((r 1)))\n";
  egraph.run_program(program, "t");
  egraph.run(Schedule::saturate(kDefaultRuleset));
  const RunReport report = egraph.run(Schedule::run(kDefaultRuleset));
  EXPECT_EQ(report.rules.capacity(), 0u);
  EXPECT_EQ(report.steps.capacity(), 0u);
  EXPECT_TRUE(report.rulesets.empty());
  EXPECT_EQ(report.growth(), "no growth: no rule found anything new\n");
}

TEST(Report, SeveralRunsMakeOne) {
  EGraph egraph;
  egraph.run_program(kGrowing, "t");
  const ProgramResult result = egraph.run_program("(run 1) (run 2)", "t");
  const RunReport sum = overall(result.runs);
  EXPECT_EQ(sum.iterations.size(), 3u);
  EXPECT_EQ(sum.tuples_before, 1u);
  EXPECT_EQ(sum.tuples, 13u);
  EXPECT_EQ(sum.rule(RuleId{1}).matches, 9u);
  EXPECT_EQ(sum.rule(RuleId{1}).searches, 3u);
  EXPECT_EQ(sum.steps.back().iteration, 2u);
}

TEST(Report, ARunTellsHowFarItIs) {
  EGraph egraph;
  egraph.run_program(R"((function f () i64 :merge (max old new)) (set (f) 0)
      (rule ((= x (f))) ((set (f) (+ x 1))) :name "forever"))",
                     "t");
  std::vector<RunProgress> told;
  const RunReport report = egraph.run(Schedule::saturate(kDefaultRuleset),
                                      {.seconds = 0.35, .progress = [&](const RunProgress& now) {
                                         EXPECT_EQ(now.rule, "forever");
                                         told.push_back(now);
                                       }});
  EXPECT_EQ(report.stop, StopReason::TimeLimit);
  ASSERT_GE(told.size(), 1u);
  EXPECT_LE(told.size(), 3u);
  EXPECT_GE(told[0].seconds, 0.1);
  EXPECT_GE(told[0].iteration, 2u);
  EXPECT_EQ(told[0].tuples, 1u);
}

}  // namespace
}  // namespace luminal::egraph
