#include "luminal/egraph/saturate/match.h"

#include "luminal/egraph/egraph.h"
#include "luminal/egraph/language/parser.h"
#include "luminal/egraph/program/program.h"
#include "luminal/egraph/saturate/engine.h"
#include "luminal/egraph/saturate/runner.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace luminal::egraph {
namespace {

// The AC closure of a sum of n terms: one row per way to split a set of terms in two.
TEST(Match, AnAcSumSaturatesAtItsKnownSize) {
  size_t power3 = 9, power2 = 8;
  for (int n = 3; n <= 7; ++n) {
    power3 *= 3;
    power2 *= 2;
    std::string sum = "(Num " + std::to_string(n) + ")";
    for (int i = n - 1; i > 0; --i) sum = "(Add (Num " + std::to_string(i) + ") " + sum + ")";
    EGraph egraph;
    egraph.run_program(R"((datatype Math (Num i64) (Add Math Math))
        (rewrite (Add x y) (Add y x))
        (rewrite (Add (Add x y) z) (Add x (Add y z))))" +
                           sum + "(run-schedule (saturate (run)))",
                       "t");
    EXPECT_EQ(egraph.size(egraph.function("Add")), power3 - power2 + 1) << n;
    EXPECT_EQ(egraph.classes(), (size_t{1} << n) - 1) << n;
  }
}

TEST(Match, TransitiveClosureOfARandomGraphIsRight) {
  std::mt19937 random(2);
  for (int round = 0; round < 20; ++round) {
    constexpr int kNodes = 12;
    bool reach[kNodes][kNodes] = {};
    EGraph egraph;
    egraph.run_program(R"((relation edge (i64 i64)) (relation path (i64 i64))
        (rule ((edge x y)) ((path x y)))
        (rule ((path x y) (path y z)) ((path x z))))",
                       "t");
    const FunctionId edge = egraph.function("edge");
    for (int i = 0; i < 15; ++i) {
      const int a = int(random() % kNodes), b = int(random() % kNodes);
      reach[a][b] = true;
      egraph.add(edge,
                 {egraph.constants().intern(int64_t{a}), egraph.constants().intern(int64_t{b})});
    }
    for (int k = 0; k < kNodes; ++k) {
      for (int i = 0; i < kNodes; ++i) {
        for (int j = 0; j < kNodes; ++j) reach[i][j] |= reach[i][k] && reach[k][j];
      }
    }
    egraph.run(Schedule::saturate(kDefaultRuleset));
    size_t expected = 0;
    for (int i = 0; i < kNodes; ++i) {
      for (int j = 0; j < kNodes; ++j) {
        expected += reach[i][j];
        const Value from = egraph.constants().intern(int64_t{i});
        const Value to = egraph.constants().intern(int64_t{j});
        EXPECT_EQ(egraph.lookup(egraph.function("path"), {from, to}).has_value(), reach[i][j]);
      }
    }
    EXPECT_EQ(egraph.size(egraph.function("path")), expected);
  }
}

// A program from small parts; what it computes doesn't depend on the order of matches.
std::string random_program(std::mt19937& random) {
  static const char* const kFacts[] = {"(r x y)",       "(r y x)",       "(r x x)",
                                       "(= x (G y z))", "(= y (F x))",   "(= (F x) (F y))",
                                       "(= x (N n))",   "(= n (low x))", "(r (F x) y)",
                                       "(= x (A))",     "(r (N n) y)",   "(= (G x y) (F z))"};
  static const char* const kRewrites[] = {"(rewrite (F (F x)) x)",
                                          "(rewrite (G x y) (G y x))",
                                          "(rewrite (G x x) (F x))",
                                          "(rewrite (F (G x y)) (G (F x) (F y)))",
                                          "(rewrite (N n) (F (N (- n 1))) :when ((> n 0)))",
                                          "(rewrite (G (A) x) x)",
                                          "(rewrite (G (G x y) z) (G x (G y z)))"};
  const auto pick = [&](auto& list) { return std::string(list[random() % std::size(list)]); };
  std::string text = R"((datatype T (A) (B) (F T) (G T T) (N i64)) (relation r (T T))
      (function low (T) i64 :merge (min old new)))";
  for (int i = 0; i < 2; ++i) text += pick(kRewrites);
  for (int i = 0; i < 3; ++i) {
    std::string facts;
    for (size_t count = 1 + random() % 3; count > 0; --count) facts += pick(kFacts);
    const bool has_x = facts.find('x') != std::string::npos;
    const bool has_y = facts.find('y') != std::string::npos;
    const bool has_n = facts.find('n') != std::string::npos;
    const std::string x = has_x ? "x" : "(A)", y = has_y ? "y" : "(F (B))", n = has_n ? "n" : "2";
    const std::string actions[] = {"(r " + x + " " + y + ")", "(union " + x + " " + y + ")",
                                   "(set (low " + x + ") " + n + ")", "(r (F " + x + ") (A))"};
    text += "(rule (" + facts + ") (" + pick(actions) + pick(actions) + "))";
  }
  return text +
         R"((r (G (A) (N 2)) (F (F (B)))) (r (F (A)) (G (B) (G (B) (A)))) (set (low (B)) 1))";
}

struct Sizes {
  std::vector<size_t> tables;
  size_t classes;
  friend bool operator==(const Sizes&, const Sizes&) = default;
};

// Runs some iterations; a naive run forgets before each what it has searched.
std::vector<Sizes> run_iterations(const std::string& text, bool naive) {
  Engine engine;
  ProgramResult ignored;
  run_commands(engine, parse(text, "random"), "random", {}, {}, ignored);
  std::vector<Sizes> result;
  for (int i = 0; i < 4; ++i) {
    if (naive) {
      for (Rule& rule : engine.rules) rule.searched_until = 0;
      for (Ruleset& ruleset : engine.rulesets) ruleset.searched_until = 0;
    }
    run(engine, Schedule::run(kDefaultRuleset), {.nodes = 3000});
    Sizes sizes{.tables = {}, .classes = engine.database.classes()};
    for (uint32_t f = 0; f < engine.database.functions(); ++f) {
      sizes.tables.push_back(engine.database.table(FunctionId{f}).live());
    }
    result.push_back(sizes);
    if (engine.database.tuples() > 1000) break;
  }
  return result;
}

TEST(Match, SemiNaiveSearchFindsWhatNaiveSearchFinds) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const std::string text = random_program(random);
    ASSERT_EQ(run_iterations(text, false), run_iterations(text, true)) << text;
  }
}

TEST(Match, ARuleMatchesEachCombinationOnce) {
  EGraph egraph;
  egraph.run_program(R"((relation r (i64)) (relation s (i64 i64))
      (rule ((r x) (r y)) ((s x y)) :name "square")
      (r 1) (r 2) (r 3))",
                     "t");
  RunReport report = egraph.run(Schedule::run(kDefaultRuleset));
  EXPECT_EQ(report.rules[0].matches, 9u);
  egraph.run_program("(r 4)", "t");
  report = egraph.run(Schedule::saturate(kDefaultRuleset));
  EXPECT_EQ(report.rules[0].matches, 7u);
  EXPECT_EQ(report.rules[0].new_tuples, 7u);
}

// The rule names a global; a union moves rows that are old into the global's class.
TEST(Match, ARuleSeesOldRowsOfAGlobalsNewClass) {
  EGraph egraph;
  egraph.run_program(R"((datatype T (A) (B) (F T)) (relation hit (T))
      (let b (F (B))) (let a (A))
      (rule ((= a (F x))) ((hit x)))
      (run 2) (fail (check (hit (B))))
      (union a b)
      (run 2) (check (hit (B))))",
                     "t");
}

TEST(Match, DeletedRowsNoLongerMatch) {
  EGraph egraph;
  egraph.run_program(R"((relation r (i64)) (relation s (i64)) (ruleset copy)
      (rule ((r x)) ((s x)) :ruleset copy)
      (r 1) (r 2) (delete (r 1)) (delete (r 9))
      (run copy 1) (check (s 2)) (fail (check (s 1)))
      (r 1) (run copy 1) (check (s 1)))",
                     "t");
}

}  // namespace
}  // namespace luminal::egraph
