// A rule from outside: PlanOptions::rules takes it as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "luminal/luminal.h"

namespace luminal {
namespace {

using ::testing::Contains;

const RuleFile kExponentsAdd{"mine.egg",
                             R"((ruleset mine.finite)
(rewrite (Mul (Exp2 x) (Exp2 y)) (Exp2 (Add x y)) :ruleset mine.finite :name "exponents-add"))"};

class RuleFromOutside : public testing::Test {
 protected:
  RuleFromOutside() {
    a_ = graph_.input("a", {4});
    b_ = graph_.input("b", {4});
    y_ = (exp2(a_) * exp2(b_)).output("y");
  }

  std::vector<float> results(CompileOptions options) {
    options.storage.cache_folder = "none";
    options.report = &report_;
    Executable exe = compile(graph_, options);
    exe.set(a_, std::vector<float>{0, 1, -2, 0.5});
    exe.set(b_, std::vector<float>{3, -1, 0.25, 0.5});
    exe.run();
    return exe.get<float>(y_);
  }

  bool fired() const {
    return std::ranges::any_of(report_.rules, [](const RuleGrowth& rule) {
      return rule.rule == "exponents-add" && rule.group == "mine" && rule.matches > 0;
    });
  }

  Graph graph_;
  Tensor a_, b_, y_;
  CompileReport report_;
};

TEST_F(RuleFromOutside, FiresAndKeepsTheResult) {
  const std::vector<float> with =
      results({.plan = {.numerics = Numerics::Finite, .rules = {kExponentsAdd}}});
  EXPECT_TRUE(fired());
  ASSERT_EQ(report_.kernels.size(), 1u);
  EXPECT_THAT(report_.kernels[0].rules, Contains("exponents-add"));
  const std::vector<float> exponents = {3, 0, -1.75, 1};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(with[i], std::exp2(exponents[i]), 1e-5) << i;
}

TEST_F(RuleFromOutside, RunsOnlyWhereItsClassIsAdmitted) {
  const std::vector<float> without = results({.plan = {.rules = {kExponentsAdd}}});
  EXPECT_FALSE(fired());
  EXPECT_NEAR(without[0], 8, 1e-5);
}

}  // namespace
}  // namespace luminal
