// compile() by default: the plan that a search recorded, where there is one for exactly this
// question, and a note where one isn't used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "luminal/base/os/limits.h"
#include "luminal/base/os/paths.h"
#include "luminal/driver/measure/recorded_plan.h"
#include "luminal/luminal.h"
#include "luminal/records/sqlite.h"
#include "luminal/records/store.h"
#include "tests/support/forge.h"

namespace luminal {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kFromRecords = "the tuning records, found by a search of ";

struct GatedProgram {
  explicit GatedProgram(int64_t columns = 48) {
    const Expr s = Expr::var("s", 1, 64);
    x = graph.input("x", {s, 32});
    const Tensor w = graph.weight("w", {32, columns});
    w.set(std::vector<float>(static_cast<size_t>(32 * columns), 0.125f));
    const Tensor product = matmul(x, w).materialize();
    y = (softmax(product, -1) * sigmoid(product)).output("y");
  }
  Graph graph;
  Tensor x, y;
};

struct CompiledGate {
  CompileReport report;
  std::string plan;  // kernels with their schedules
  std::vector<float> result;

  std::string origin() const { return report.plans.at(0).origin; }
};

CompiledGate compiled_gate(const CompileOptions& asked, int64_t columns = 48) {
  GatedProgram program(columns);
  CompiledGate made;
  CompileOptions options = asked;
  options.report = &made.report;
  Executable executable = compile(program.graph, options);
  for (const KernelReport& kernel : made.report.kernels) made.plan += kernel.text + kernel.schedule;
  executable.set(program.x, std::vector<float>(5 * 32, 0.5f));
  executable.run({{"s", 5}});
  made.result = executable.get<float>(program.y);
  return made;
}

class Recorded : public testing::Test {
 protected:
  CompileOptions by_default() const {
    CompileOptions options;
    options.storage.cache_folder = "none";
    options.storage.records = file().string();
    return options;
  }
  CompileOptions searching(int candidates = 3) const {
    CompileOptions options = by_default();
    options.search.mode = SearchMode::Measured;
    options.search.candidates = candidates;
    options.search.trials = 5;
    options.search.keep_busy_times = true;  // other tests may run beside this one
    return options;
  }
  std::filesystem::path file() const { return folder_.path() / "records.sqlite"; }
  void change(const std::string& sql) const {
    records::Connection(file(), records::Access::Create).run(sql);
  }
  base::TemporaryFolder folder_;
};

TEST_F(Recorded, ACompileUsesThePlanThatASearchFoundAndSaysSo) {
  const CompiledGate tuned = compiled_gate(searching());
  EXPECT_EQ(tuned.origin(), "a search of 20 s");
  const CompiledGate found = compiled_gate(by_default());
  EXPECT_EQ(found.origin(), std::string(kFromRecords) + "20 s");
  EXPECT_EQ(found.plan, tuned.plan);
  EXPECT_EQ(found.result, tuned.result);
  EXPECT_THAT(found.report.text(), HasSubstr("plan from the tuning records, found by a search of"));
  ASSERT_EQ(found.report.searches.size(), 1u);
  EXPECT_EQ(found.report.searches[0].mode, "remembered");
  EXPECT_TRUE(found.report.searches[0].recorded);
  EXPECT_EQ(found.report.notes, tuned.report.notes);
}

TEST_F(Recorded, TheModelAloneIsAskedForByName) {
  compiled_gate(searching());
  CompileOptions options = by_default();
  options.search.mode = SearchMode::Modelled;
  const CompiledGate found = compiled_gate(options);
  EXPECT_EQ(found.origin(), PlanReport::kCostModel);
  EXPECT_THAT(found.report.searches, IsEmpty());
  options = by_default();
  options.storage.records = "none";
  EXPECT_EQ(compiled_gate(options).origin(), PlanReport::kCostModel);
}

// Nor is that worth a note: there is no record that isn't used.
TEST_F(Recorded, APlanOfAnotherQuestionIsNotUsed) {
  compiled_gate(searching());
  CompileOptions options = by_default();
  const auto expect_model = [](const CompiledGate& found) {
    EXPECT_EQ(found.origin(), PlanReport::kCostModel);
    EXPECT_THAT(found.report.notes, Not(Contains(HasSubstr("records"))));
  };
  expect_model(compiled_gate(options, 64));  // another graph
  options.backend.target = "sse2";
  expect_model(compiled_gate(options));
  options = by_default();
  options.plan.typical_sizes = {{"s", 2}};
  expect_model(compiled_gate(options));
  options = by_default();
  options.plan.numerics = Numerics::Exact;
  expect_model(compiled_gate(options));
  options = by_default();
  options.backend.threads = base::usable_threads() == 1 ? 2 : 1;
  expect_model(compiled_gate(options));
}

TEST_F(Recorded, WithoutRecordsNoFileIsMade) {
  const CompiledGate found = compiled_gate(by_default());
  EXPECT_EQ(found.origin(), PlanReport::kCostModel);
  EXPECT_THAT(found.report.notes, Not(Contains(HasSubstr("records"))));
  EXPECT_FALSE(std::filesystem::exists(file()));
  EXPECT_FALSE(existing_records(by_default().storage));
}

// Somebody else's plan isn't run as it is: its search is repeated by the recorded times.
TEST_F(Recorded, AnUnsealedPlanIsDerivedAgainAndSealed) {
  const CompiledGate tuned = compiled_gate(searching());
  ASSERT_EQ(tests::rewrite_plans(file(), [](TunedPlan&) {}), 1);
  const CompiledGate derived = compiled_gate(by_default());
  EXPECT_THAT(derived.origin(), StartsWith(kFromRecords));
  EXPECT_EQ(derived.plan, tuned.plan);
  EXPECT_EQ(derived.report.searches[0].timed, 0);
  EXPECT_THAT(derived.report.stages.back().name, "kernels");
  const CompiledGate again = compiled_gate(by_default());
  EXPECT_THAT(again.origin(), StartsWith(kFromRecords));
  EXPECT_THAT(again.report.stages.at(again.report.stages.size() - 2).summary,
              HasSubstr("from the tuning records, found by a search of 20 s"));
}

TEST_F(Recorded, AForgedPlanChangesNothing) {
  const CompiledGate tuned = compiled_gate(searching());
  tests::rewrite_plans(file(), [&](TunedPlan& plan) {
    tests::change_plan(plan.entry, [](kernel::PlannedGraph& planned) {
      for (auto& step : planned.plan.steps) {
        auto* kernel = std::get_if<kernel::KernelStep>(&step);
        if (kernel == nullptr) continue;
        for (kernel::Stage& stage : kernel->lowered.kernel.stages) {
          for (kernel::Inst& inst : stage.body) {
            if (auto* constant = std::get_if<kernel::ConstInst>(&inst.what)) constant->real = 42;
          }
        }
      }
    });
  });
  EXPECT_EQ(compiled_gate(by_default()).result, tuned.result);
}

TEST_F(Recorded, WhatCannotBeUsedIsNamed) {
  const auto expect_note = [&](const char* words) {
    const CompiledGate found = compiled_gate(by_default());
    EXPECT_EQ(found.origin(), PlanReport::kCostModel) << words;
    EXPECT_THAT(found.report.notes, Contains(HasSubstr(words)));
    EXPECT_THAT(found.report.searches, IsEmpty());
  };
  compiled_gate(searching());
  // Nobody's seal, and no times to derive it from.
  change("DELETE FROM kernels");
  tests::rewrite_plans(file(), [](TunedPlan&) {});
  expect_note("the plan in the tuning records is not used, but the cost model's: replay:");
  change("UPDATE plans SET rank = rank + 1");
  expect_note("is damaged, so the cost model's is used");
  change("PRAGMA user_version = 1000");
  expect_note("tuning records are not used: records:");
  std::ofstream(file()) << std::string(5000, 'x');
  expect_note("tuning records are not used");
  std::filesystem::remove(file());
  std::filesystem::create_directory(file());
  expect_note("is a folder");
}

// They have another report, or another stage to show, of the same plan.
TEST_F(Recorded, QuestionsAboutThePlanAreAboutTheRecordedOne) {
  const CompiledGate tuned = compiled_gate(searching());
  CompileOptions rivals = by_default();
  rivals.inspect.find_rivals = true;
  const CompiledGate explained = compiled_gate(rivals);
  EXPECT_THAT(explained.origin(), StartsWith(kFromRecords));
  EXPECT_EQ(explained.plan, tuned.plan);
  CompileOptions printing = by_default();
  std::ostringstream out;
  printing.inspect.print_after = "saturated";
  printing.inspect.out = &out;
  const CompiledGate printed = compiled_gate(printing);
  EXPECT_EQ(printed.plan, tuned.plan);
  EXPECT_THAT(out.str(), HasSubstr("; after saturated"));
  // The record is as it was.
  const CompiledGate again = compiled_gate(by_default());
  EXPECT_THAT(again.report.stages.at(again.report.stages.size() - 2).summary,
              HasSubstr("from the tuning records"));
}

TEST_F(Recorded, VariantsAreLookedUpOneByOne) {
  CompileOptions tuning = searching(2);
  tuning.plan.variants = {{"s", {1}}};
  const CompiledGate tuned = compiled_gate(tuning);
  CompileOptions options = by_default();
  options.plan.variants = {{"s", {1}}};
  const CompiledGate found = compiled_gate(options);
  ASSERT_EQ(found.report.plans.size(), 2u);
  for (const PlanReport& plan : found.report.plans) {
    EXPECT_EQ(plan.origin, std::string(kFromRecords) + "10 s") << plan.variant;
  }
  EXPECT_EQ(found.plan, tuned.plan);
}

TEST_F(Recorded, ALargerBudgetGoesOnAndTimesNothingTwice) {
  const CompiledGate first = compiled_gate(searching(2));
  const CompiledGate more = compiled_gate(searching(6));
  EXPECT_EQ(more.report.searches[0].mode, "measured");
  const records::Store store = records::Store::open(file(), records::Mode::ReadOnly);
  EXPECT_EQ(store.stats().kernels, first.report.searches[0].timed + more.report.searches[0].timed);
}

// The plan that an earlier search found isn't given up before another one was measured against it.
TEST_F(Recorded, AnInterruptedSearchDoesNotLoseAnEarlierPlan) {
  const CompiledGate tuned = compiled_gate(searching(4));
  CompileOptions more = searching(200);
  more.search.seconds = 40;
  more.search.stop = [] { return true; };
  const CompiledGate interrupted = compiled_gate(more);
  EXPECT_EQ(interrupted.report.searches[0].stopped, "it was interrupted");
  EXPECT_EQ(interrupted.plan, tuned.plan);
  EXPECT_EQ(compiled_gate(by_default()).plan, tuned.plan);
}

// Records of another day would look unused to `luminal tune prune --unused-for` otherwise.
TEST_F(Recorded, AUseIsNoted) {
  compiled_gate(searching(2));
  change("UPDATE plans SET used = 1000");
  EXPECT_THAT(compiled_gate(by_default()).origin(), StartsWith(kFromRecords));
  records::Store store = records::Store::open(file());
  EXPECT_EQ(store.prune({.unused_seconds = 60 * 60, .dry_run = true}).plans, 0);
}

}  // namespace
}  // namespace luminal
