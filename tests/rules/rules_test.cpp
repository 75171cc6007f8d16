// Every rule of the compiler and its backends keeps its promise on random instances, and rules that
// don't are caught. With an argument, so many instances of each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "luminal/driver/compile.h"
#include "luminal/driver/options/backend_rules.h"
#include "luminal/rule_testing/test_rules.h"
#include "tests/rules/planted_rules.h"

namespace luminal::rule_testing {
namespace {

int instances = 50;

TEST(Rules, EveryOneKeepsItsPromise) {
  const RuleSet rules;
  for (const RuleTestResult& result : test_rules(rules, {.instances = instances})) {
    EXPECT_EQ(result.why, "") << result.rule;
    EXPECT_EQ(result.fired, instances) << result.rule;
  }
  for (const std::string& backend : backend_names()) {
    const RuleSet with_its_own(backend_rules({.name = backend}));
    for (const RuleInfo& rule : with_its_own.rules()) {
      if (rule.is_embedded()) continue;
      const RuleTestResult result = test_rule(with_its_own, rule, {.instances = instances});
      EXPECT_EQ(result.why, "") << rule.name << " in " << rule.place();
    }
  }
}

RuleTestResult test_planted(const PlantedRule& planted, const RuleTestOptions& options) {
  const std::string ruleset = fmt::format("planted.{}", planted.numeric_class);
  const std::string name = fmt::format("planted-{}", planted.name);
  const search::RuleText file{"planted.egg",
                              fmt::format("(ruleset {})\n{} :ruleset {} :name \"{}\")", ruleset,
                                          planted.form, ruleset, name)};
  const RuleSet rules(std::vector{file});
  return test_rule(rules, *rules.find(name), options);
}

using PlantedRules = std::span<const PlantedRule>;

int count_caught(PlantedRules rules) {
  int caught = 0;
  for (const PlantedRule& planted : rules) {
    const RuleTestResult result = test_planted(planted, {.instances = instances});
    const bool is_caught = result.why.find("does not hold") != std::string::npos;
    EXPECT_TRUE(is_caught) << planted.name << ": " << planted.what << "; after " << result.fired
                           << " instances and " << result.tries << " tries: " << result.why;
    caught += is_caught;
  }
  return caught;
}

TEST(Rules, WrongOnesAreCaught) {
  const int of_sums = count_caught(kPlantedSumRules);
  std::printf("caught %d wrong rules, and %d of sums\n", count_caught(kPlantedRules), of_sums);
}

// Not by luck: fifty instances miss the subtlest one in twenty times.
TEST(Rules, WrongOnesAreCaughtByEverySeed) {
  for (uint64_t seed = 2; seed < 12; ++seed) {
    for (PlantedRules rules : {PlantedRules(kPlantedRules), PlantedRules(kPlantedSumRules)}) {
      for (const PlantedRule& planted : rules) {
        const RuleTestResult result = test_planted(planted, {.instances = 250, .seed = seed});
        EXPECT_NE(result.why, "") << planted.name << " with seed " << seed;
      }
    }
  }
}

TEST(Rules, ThatNeverFireAreSaidToDoSo) {
  const search::RuleText file{
      "mine.egg",
      "(ruleset mine.exact)\n"
      "(rewrite (Add x y) x :when ((= c (constant y)) (is-zero c) (is-one c))\n"
      "  :ruleset mine.exact :name \"never\")"};
  const RuleSet rules(std::vector{file});
  const RuleTestResult result = test_rule(rules, *rules.find("never"), {.instances = 5});
  EXPECT_EQ(result.fired, 0);
  EXPECT_NE(result.why.find("0 of 2000 random instances made it fire"), std::string::npos)
      << result.why;
}

TEST(Rules, GiveTheSameResultForTheSameSeed) {
  const RuleSet rules;
  const RuleInfo& rule = *rules.find("casts-compose");
  const RuleTestResult first = test_rule(rules, rule, {.instances = 20, .seed = 9});
  const RuleTestResult again = test_rule(rules, rule, {.instances = 20, .seed = 9});
  EXPECT_EQ(first.tries, again.tries);
  EXPECT_NE(first.tries, test_rule(rules, rule, {.instances = 20, .seed = 10}).tries);
}

}  // namespace
}  // namespace luminal::rule_testing

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) luminal::rule_testing::instances = std::atoi(argv[1]);
  return RUN_ALL_TESTS();
}
