// A graph without a plan is an error that names the op, the nearest rule and what it lacks.
#include "luminal/driver/plan/no_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/base/errors.h"
#include "luminal/luminal.h"
#include "luminal/search/inspect/diagnose.h"

namespace luminal {
namespace {

using testing::HasSubstr;

Graph& view_of_sine() {
  static Graph graph;
  if (graph.size() == 0) {
    sin(graph.input("x", {16, 8}).permute({1, 0})).output("y");
  }
  return graph;
}

std::string diagnosed(const std::string& rules, int most_instances = 600) {
  search::PlanningOptions options;
  options.search.limits.walk.most_instances = most_instances;
  if (!rules.empty()) options.rules.push_back({"planted.egg", rules});
  search::Inspection inspection(view_of_sine(), options);
  return search::summary(search::diagnose(inspection));
}

TEST(NoPlan, NamesTheOpTheNearestRuleAndItsGuard) {
  EXPECT_EQ(diagnosed(R"((ruleset planted.exact)
(rule ((= v (Sin x))) ((union v (Load (Store (Sqrt x)))) (delete (Sin x)))
  :ruleset planted.exact :name "away")
(rewrite (Load (Store (Sqrt (Reindex m v)))) (Sqrt v) :when ((is-identity m))
  :ruleset planted.exact :name "back"))"),
            "missing-lowering at %2 (sin): it loads a value that no step of the plan computes; "
            "look at rule "
            "'away'; the nearest rule is 'back', which fails at (is-identity [i1, i0])");
}

TEST(NoPlan, NamesTheLimit) {
  EXPECT_EQ(diagnosed("", 1), "over-limits at %2 (sin): too many instances");
}

TEST(NoPlan, NothingWrongHasNoSummary) { EXPECT_EQ(diagnosed(""), ""); }

// Where looking again finds nothing, the first error stands.
TEST(NoPlan, KeepsTheFirstError) {
  try {
    throw_no_plan(view_of_sine(), {}, InternalError("kernels everywhere"));
    FAIL() << "nothing was thrown";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("kernels everywhere"));
  }
}

TEST(NoPlan, NamesAUsersRuleThatTakesTermsAway) {
  const RuleFile mine{"mine.egg", R"((ruleset mine.exact)
(rule ((= v (Sin x))) ((delete (Sin x))) :ruleset mine.exact :name "no-sines"))"};
  try {
    compile(view_of_sine(), {.plan = {.rules = {mine}}, .storage = {.cache_folder = "none"}});
    FAIL() << "nothing was thrown";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("mine.egg: the graph has no plan: missing-lowering at"));
    EXPECT_THAT(error.what(), HasSubstr("look at rule 'no-sines'"));
  }
}

}  // namespace
}  // namespace luminal
