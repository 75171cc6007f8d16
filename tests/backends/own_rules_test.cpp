// Rules that a backend brings: they run in compiles for it alone, and are listed, tested, keyed and
// blamed as any other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "luminal/backends/registry/registry.h"
#include "luminal/base/errors.h"
#include "luminal/driver/explain/explanation.h"
#include "luminal/driver/explain/why_not.h"
#include "luminal/driver/fusion/fusion_profile.h"
#include "luminal/driver/options/backend_rules.h"
#include "luminal/driver/plan/plan_key.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/graph/traverse.h"
#include "luminal/luminal.h"
#include "luminal/rule_testing/test_rules.h"

namespace luminal {
namespace {

using search::RuleInfo;
using search::RuleSet;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// The cpu backend under another name, with rules.
class ToyBackend : public backends::Backend {
 public:
  std::string rule_text;
  mutable backends::LoadOptions asked;  // of the last call of rules()

  std::string_view name() const override { return "toy"; }
  bool runs_plans() const override { return true; }
  std::string target(const backends::LoadOptions& options) const override {
    return cpu_.target(options);
  }
  std::vector<backends::BackendRuleFile> rules(
      const backends::LoadOptions& options) const override {
    asked = options;
    if (rule_text.empty()) return {};
    return {{"exponents.egg", rule_text}};
  }
  std::optional<kernel::Packing> packing(const backends::LoadOptions& options) const override {
    return cpu_.packing(options);
  }
  std::vector<std::unique_ptr<runtime::Program>> load(
      std::span<const backends::LoadRequest> requests,
      backends::LoadReport* report) const override {
    return cpu_.load(requests, report);
  }

 private:
  const backends::Backend& cpu_ = backends::find_backend("cpu");
};

std::string rule(const std::string& numeric_class, const std::string& right) {
  return "(ruleset exponents." + numeric_class + ")\n(rewrite (Mul (Exp2 x) (Exp2 y)) " + right +
         " :ruleset exponents." + numeric_class + " :name \"exponents-add\")";
}

const std::string kExponentsAdd = rule("finite", "(Exp2 (Add x y))");

class OwnRules : public testing::Test {
 protected:
  OwnRules() {
    toy_.rule_text = kExponentsAdd;
    a_ = graph_.input("a", {4});
    b_ = graph_.input("b", {4});
    y_ = (exp2(a_) * exp2(b_)).output("y");
  }

  static CompileOptions on(const std::string& backend) {
    CompileOptions options;
    options.backend.name = backend;
    options.plan.numerics = Numerics::Finite;
    options.storage.cache_folder = "none";
    options.storage.records = "none";
    return options;
  }

  CompileReport report_of(CompileOptions options) const {
    CompileReport report;
    options.report = &report;
    compile(graph_, options);
    return report;
  }
  std::string error_of(const CompileOptions& options) const {
    try {
      report_of(options);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }
  static std::vector<std::string> fired(const CompileReport& report) {
    std::vector<std::string> rules;
    for (const RuleGrowth& rule : report.rules) rules.push_back(rule.rule);
    return rules;
  }

  std::string key() const {
    const CompileOptions options = on("toy");
    const search::PlanningOptions planning = planning_options(graph_, options);
    const std::vector<NodeId> wanted = roots(graph_);
    return plan_key({.place = place_of(options.backend),
                     .graph = graph_,
                     .roots = wanted,
                     .planning = planning,
                     .packing = {}});
  }

  ToyBackend toy_;
  backends::AddedBackend added_{toy_};
  Graph graph_;
  Tensor a_, b_, y_;
};

TEST_F(OwnRules, RunForTheirBackendAlone) {
  EXPECT_THAT(fired(report_of(on("toy"))), Contains("exponents-add"));
  EXPECT_THAT(fired(report_of(on("cpu"))), Not(Contains("exponents-add")));
  Executable exe = compile(graph_, on("toy"));
  exe.set(a_, std::vector<float>{0, 1, -2, 0.5});
  exe.set(b_, std::vector<float>{3, -1, 0.25, 0.5});
  exe.run();
  EXPECT_NEAR(exe.get<float>(y_)[0], 8, 1e-5);
}

TEST_F(OwnRules, AreLeftOutByClassAndGroup) {
  CompileOptions options = on("toy");
  options.plan.disable_rules = {"exponents"};
  EXPECT_THAT(fired(report_of(options)), Not(Contains("exponents-add")));
  options = on("toy");
  options.plan.numerics = Numerics::Reassociating;
  EXPECT_THAT(fired(report_of(options)), Not(Contains("exponents-add")));
}

TEST_F(OwnRules, ComeBetweenTheEmbeddedOnesAndTheUsers) {
  CompileOptions options = on("toy");
  options.plan.rules = {{"mine.egg", "(ruleset mine.exact)"}};
  const std::vector<search::RuleText> files = planning_options(graph_, options).rules;
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].file, "exponents.egg");
  EXPECT_EQ(files[1].file, "mine.egg");
}

TEST_F(OwnRules, KnowTheTarget) {
  CompileOptions options = on("toy");
  options.backend.target = "sse2";
  options.backend.threads = 1;
  report_of(options);
  EXPECT_EQ(toy_.asked.target, "sse2");
  EXPECT_EQ(toy_.asked.threads, 1);
}

TEST_F(OwnRules, AreNamedWithTheirBackend) {
  const CompileReport report = report_of(on("toy"));
  const auto growth = std::ranges::find(report.rules, "exponents-add", &RuleGrowth::rule);
  ASSERT_NE(growth, report.rules.end());
  EXPECT_EQ(growth->origin, "exponents.egg of backend 'toy'");
  EXPECT_THAT(report.text(), HasSubstr("from exponents.egg of backend 'toy'"));
  EXPECT_THAT(text(explain(report, "g")),
              HasSubstr("exponents-add (exponents.egg of backend 'toy')"));
  const std::vector<WhyNotAnswer> answers = why_not(graph_, on("toy"), {"exponents-add"});
  EXPECT_EQ(answers.at(0).finding.at("from"), "exponents.egg of backend 'toy'");
}

TEST_F(OwnRules, ArePartOfEveryKey) {
  const std::string with = key();
  const std::string measured_with = fusion_conditions({.name = "toy"}, Numerics::Finite).options;
  toy_.rule_text = rule("approximate", "(Exp2 (Add x y))");
  EXPECT_NE(key(), with);
  EXPECT_NE(fusion_conditions({.name = "toy"}, Numerics::Finite).options, measured_with);
  toy_.rule_text.clear();
  EXPECT_NE(key(), with);
  EXPECT_EQ(fusion_conditions({.name = "toy"}, Numerics::Finite).options,
            "backend toy, library never, numerics finite");
}

TEST_F(OwnRules, DecideWhichCachedPlanIsTaken) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("luminal_own_rules_" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  CompileOptions options = on("toy");
  options.storage.cache_folder = folder.string();
  const auto is_from_cache = [&] {
    return report_of(options).text().find("from the cache (") != std::string::npos;
  };
  EXPECT_FALSE(is_from_cache());
  EXPECT_TRUE(is_from_cache());
  toy_.rule_text = rule("approximate", "(Exp2 (Add x y))");
  EXPECT_FALSE(is_from_cache());
  options.backend.name = "cpu";
  EXPECT_FALSE(is_from_cache());
  std::filesystem::remove_all(folder);
}

TEST_F(OwnRules, AreTestedAsAnyOther) {
  const RuleSet right(backend_rules({.name = "toy"}));
  const RuleInfo* rule_of_toy = right.find("exponents-add");
  ASSERT_NE(rule_of_toy, nullptr);
  EXPECT_EQ(text(rule_of_toy->origin), "backend 'toy'");
  EXPECT_EQ(rule_testing::test_rule(right, *rule_of_toy, {.instances = 10}).why, "");
  toy_.rule_text = rule("finite", "(Exp2 (Mul x y))");
  const RuleSet wrong(backend_rules({.name = "toy"}));
  EXPECT_THAT(rule_testing::test_rule(wrong, *wrong.find("exponents-add")).why,
              HasSubstr("does not hold"));
}

TEST_F(OwnRules, AMistakeNamesTheBackendAndTheFile) {
  const std::string begin = "exponents.egg of backend 'toy'";
  toy_.rule_text = "(ruleset exponents.finite";
  EXPECT_THAT(error_of(on("toy")), HasSubstr(begin + ":1:1: "));
  EXPECT_EQ(error_of(on("cpu")), "");
  toy_.rule_text = rule("finite", "(Exp3 x)");
  EXPECT_THAT(error_of(on("toy")), HasSubstr(begin + ":2:"));
  toy_.rule_text = rule("finite", "(LessThan x y)");
  EXPECT_THAT(error_of(on("toy")),
              AllOf(HasSubstr(begin + ": rule 'exponents-add' is wrong"),
                    HasSubstr("`luminal rules test --backend toy` shows an example")));
  toy_.rule_text = rule("finite", "(Cast \"double\" x)");
  EXPECT_THAT(error_of(on("toy")), HasSubstr(begin + ": rule 'exponents-add' made a cast"));
}

TEST_F(OwnRules, AUsersRuleOfTheSameNameIsRefused) {
  CompileOptions options = on("toy");
  options.plan.rules = {{"mine.egg", rule("finite", "(Exp2 (Add x y))")}};
  EXPECT_NE(error_of(options), "");
  options.plan.rules = {{"mine.egg",
                         "(ruleset mine.exact)\n(rewrite (Sin x) (Sin x) :ruleset mine.exact "
                         ":name \"exponents-add\")"}};
  EXPECT_THAT(error_of(options),
              HasSubstr("there is a rule 'exponents-add' already, in exponents.egg of backend"));
}

TEST(AddedBackends, AreListedAsLongAsTheyAreAdded) {
  const ToyBackend toy;
  {
    const backends::AddedBackend added(toy);
    EXPECT_THAT(backend_names(), Contains("toy"));
    EXPECT_EQ(&backends::find_backend("toy"), &toy);
    EXPECT_THROW(backends::AddedBackend{toy}, UserError);
  }
  EXPECT_THAT(backend_names(), Not(Contains("toy")));
  EXPECT_THROW(backends::find_backend("toy"), UserError);
}

}  // namespace
}  // namespace luminal
