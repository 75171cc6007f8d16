// What is decided about a pattern is what the plan does, and the numbers stay right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "luminal/driver/fusion/decide_fusion.h"
#include "luminal/driver/fusion/fusion_records.h"
#include "luminal/driver/fusion/pattern_graph.h"
#include "tests/backends/against_interpreter.h"
#include "tests/search/llama_blocks.h"
#include "tests/support/user_error.h"

namespace luminal {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using tests::user_error;

using Groups = std::map<std::string, FusionPolicy>;

CompileReport compiled(const Graph& graph, const Groups& groups,
                       FusionPolicy fusion = FusionPolicy::Modelled) {
  CompileReport report;
  compile(graph, {.plan = {.fusion = fusion, .fusion_groups = groups},
                  .storage = {.cache_folder = "none"},
                  .inspect = {.list_patterns = true},
                  .report = &report});
  return report;
}

size_t kernels_of(const CompileReport& report) {
  return report.kernels.size() - report.n_packing();
}

// The dims of what a plan stores of one type: "f32[3, 40]" counts gate, up and their product.
size_t stored_as(const CompileReport& report, const std::string& type) {
  size_t count = 0;
  for (const KernelReport& kernel : report.kernels) {
    if (kernel.packs) continue;
    for (size_t at = kernel.result.find(type); at != std::string::npos;
         at = kernel.result.find(type, at + 1)) {
      ++count;
    }
  }
  return count;
}

TEST(FusionPolicy, KernelsSideBySideMayStayApart) {
  Graph graph;
  const Tensor x = graph.input("x", {64, 4096});
  sum(x, -1).output("sum");
  max(x, -1).output("max");
  EXPECT_EQ(kernels_of(compiled(graph, {})), 1u);
  EXPECT_EQ(kernels_of(compiled(graph, {{kSideBySide, FusionPolicy::Never}})), 2u);
  EXPECT_THAT(user_error([&] { compiled(graph, {{kSideBySide, FusionPolicy::Always}}); }),
              HasSubstr("is modelled or never; choose one"));
}

TEST(FusionPolicy, GateAndUpAreStoredOrNot) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    const PatternGraph swiglu(FusionPattern::SwiGlu,
                              {.tokens = 17, .hidden = 64, .intermediate = 96, .dtype = dtype}, 1);
    const std::string type = std::string(name(dtype)) + "[17, 96]";
    const CompileReport never = compiled(swiglu.graph(), {{"swiglu", FusionPolicy::Never}});
    const CompileReport always = compiled(swiglu.graph(), {{"swiglu", FusionPolicy::Always}});
    EXPECT_GE(stored_as(never, type), 2u) << never.text();
    EXPECT_LE(stored_as(always, type), 1u) << always.text();
    EXPECT_LE(kernels_of(always), kernels_of(never));
    EXPECT_THAT(never.fusion.at(0).decision, FusionReport::kStored);
    EXPECT_THAT(never.fusion.at(0).source, "policy never");
    EXPECT_THAT(always.fusion.at(0).decision, FusionReport::kFused);
    std::string because;
    for (const StoredReport& value : never.stored) because += value.because + "\n";
    EXPECT_THAT(because, HasSubstr("decided not to fuse the pattern"));
  }
}

TEST(FusionPolicy, TheNormalisedValueIsStoredOrNot) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    for (int64_t tokens : {1, 3, 17}) {
      const PatternGraph norm(FusionPattern::AddRmsNorm,
                              {.tokens = tokens, .hidden = 64, .intermediate = 80, .dtype = dtype},
                              1);
      const std::string type = std::string(name(dtype)) + "[" + std::to_string(tokens) + ", 64]";
      const CompileReport never = compiled(norm.graph(), {{"add-rms-norm", FusionPolicy::Never}});
      const CompileReport always = compiled(norm.graph(), {{"add-rms-norm", FusionPolicy::Always}});
      EXPECT_EQ(stored_as(never, type) - stored_as(always, type), 1u)
          << never.text() << always.text();
    }
  }
}

TEST(FusionPolicy, ResultsAreTheInterpreters) {
  for (const char* pattern : {"swiglu", "add-rms-norm"}) {
    for (FusionPolicy policy : {FusionPolicy::Never, FusionPolicy::Always}) {
      SCOPED_TRACE(std::string(pattern) + (policy == FusionPolicy::Never ? " never" : " always"));
      Graph graph;
      const Expr s = Expr::var("s", 1, 64);
      const Tensor x = graph.input("x", {s, 24});
      const Tensor sum = x + graph.input("r", {s, 24});
      const nn::Scope scope(graph);
      const Tensor normalised = nn::rms_norm(scope.child("norm"), sum, {.eps = 1e-5});
      const Tensor y =
          (sum + nn::gated_feed_forward(scope.child("mlp"), normalised, 33)).output("y");
      // Weights of about 1 make sums of hundreds, of which each addend is rounded.
      Comparison comparison{graph, {y}, {.plan = {.fusion_groups = {{pattern, policy}}}}, {}, 5e-4};
      comparison.run({{{"s", 1}}, {{"s", 3}}, {{"s", 17}}});
      EXPECT_EQ(comparison.report.fusion.size(), 2u);
    }
  }
}

// On data that makes results of about 1: what is inside isn't rounded to 16 bits, what is stored
// is.
TEST(FusionPolicy, SixteenBitsAreWithinTheirRoundings) {
  for (FusionPattern pattern : kFusionPatterns) {
    for (DType dtype : {DType::BF16, DType::F16}) {
      const PatternGraph built(pattern,
                               {.tokens = 17, .hidden = 64, .intermediate = 96, .dtype = dtype}, 5);
      Executable exact = compile(built.graph(), {.backend = {.name = "interp", .float64 = true}});
      built.set_leaves(exact);
      exact.run();
      for (FusionPolicy policy : {FusionPolicy::Never, FusionPolicy::Always}) {
        Executable exe = compile(built.graph(),
                                 {.plan = {.fusion_groups = {{std::string(name(pattern)), policy}}},
                                  .storage = {.cache_folder = "none"}});
        built.set_leaves(exe);
        exe.run();
        for (const Tensor& result : built.results()) {
          const std::vector<double> got = exe.get<double>(result);
          const std::vector<double> wanted = exact.get<double>(result);
          double furthest = 0, greatest = 0;
          for (size_t i = 0; i < got.size(); ++i) {
            furthest = std::max(furthest, std::abs(got[i] - wanted[i]));
            greatest = std::max(greatest, std::abs(wanted[i]));
          }
          EXPECT_GT(greatest, 0.5) << "data that tells nothing";
          EXPECT_LT(furthest, (dtype == DType::BF16 ? 0.02 : 0.0025) * greatest);
        }
      }
    }
  }
}

TEST(FusionPolicy, PatternsInsideOfRolledLayersAreFound) {
  Graph graph;
  search::add_llama_blocks(graph, 6);
  const CompileReport never = compiled(graph, {{"swiglu", FusionPolicy::Never}});
  const CompileReport always = compiled(graph, {{"swiglu", FusionPolicy::Always}});
  ASSERT_TRUE(std::ranges::any_of(never.stages, [](const StageReport& stage) {
    return stage.name == "rolled";
  })) << "six layers are a loop";
  // In each layer gate and up, and at most their product.
  EXPECT_GE(stored_as(never, "f32[1, s, 256]"), 2u * 6) << never.text();
  EXPECT_LE(stored_as(always, "f32[1, s, 256]"), 1u * 6) << always.text();
  ASSERT_EQ(never.fusion.size(), 2u + 1) << never.fusion_text();
  EXPECT_THAT(never.fusion_text(), HasSubstr("and 3 more"));
}

TEST(FusionPolicy, AGroupGoesBeforeTheWhole) {
  const PatternGraph swiglu(FusionPattern::SwiGlu, {.tokens = 4, .hidden = 32, .intermediate = 48},
                            1);
  const CompileReport mixed =
      compiled(swiglu.graph(), {{"swiglu", FusionPolicy::Never}}, FusionPolicy::Always);
  EXPECT_GE(stored_as(mixed, "f32[4, 48]"), 2u) << mixed.text();
  const CompileReport other =
      compiled(swiglu.graph(), {{"swiglu", FusionPolicy::Always}}, FusionPolicy::Never);
  EXPECT_LT(kernels_of(other), kernels_of(compiled(swiglu.graph(), {}, FusionPolicy::Never)));
  const CompileReport whole = compiled(swiglu.graph(), {}, FusionPolicy::Never);
  EXPECT_EQ(whole.fusion.at(0).source, "policy never");
  EXPECT_EQ(compiled(swiglu.graph(), {}).fusion.at(0).decision, FusionReport::kModelled);
}

TEST(FusionPolicy, UnknownPatternsAreRefusedByName) {
  Graph graph;
  graph.input("x", {3}).output("y");
  EXPECT_THAT(user_error([&] { compiled(graph, {{"geglu", FusionPolicy::Never}}); }),
              HasSubstr("there is no pattern 'geglu'; known: swiglu and add-rms-norm"));
}

TEST(FusionPolicy, FixedRulesAreOfTheWholeGraph) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    const PatternGraph swiglu(FusionPattern::SwiGlu,
                              {.tokens = 17, .hidden = 64, .intermediate = 96, .dtype = dtype}, 1);
    const CompileReport fixed = compiled(swiglu.graph(), {}, FusionPolicy::Fixed);
    EXPECT_GT(kernels_of(fixed), 1u) << fixed.text();
    EXPECT_EQ(fixed.fusion.at(0).decision, FusionReport::kByRules);
    EXPECT_THAT(user_error([&] { compiled(swiglu.graph(), {{"swiglu", FusionPolicy::Fixed}}); }),
                HasSubstr("fixed is a policy of the whole graph"));
  }
}

// A folder of its own, and a profile that answers for swiglu at 4 tokens.
class FusionProfileFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("luminal_fusion_" + std::to_string(getpid()) + "_" +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    options_ = {.plan = {.fusion = FusionPolicy::Measured},
                .storage = {.cache_folder = "none",
                            .records = "none",
                            .fusion_profile = (folder_ / "profile.json").string()},
                .report = &report_};
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static FusionAnswer answer_of(bool fuse) {
    return {.fuse = fuse,
            .ratio = fuse ? 0.5 : 2.0,
            .low = fuse ? 0.4 : 1.9,
            .high = fuse ? 0.6 : 2.1,
            .rounds = 11,
            .fused_kernels = 2,
            .unfused_kernels = 4};
  }

  void write_profile(bool fuse, const FusionConditions& conditions) {
    FusionProfile profile(conditions);
    profile.add(FusionPattern::SwiGlu, shape_, answer_of(fuse));
    profile.write(options_.storage.fusion_profile);
  }

  // A file of records of its own: a process remembers what it read in one.
  void use_records(const char* name) {
    options_.storage.records = (folder_ / name).string();
    options_.search.keep_busy_times = true;
  }

  const FusionShape shape_{.tokens = 4, .hidden = 32, .intermediate = 48};
  const PatternGraph swiglu_{FusionPattern::SwiGlu, shape_, 1};
  std::filesystem::path folder_;
  CompileReport report_;
  CompileOptions options_;
};

TEST_F(FusionProfileFile, DecidesWhatACompileDoes) {
  for (bool fuse : {true, false}) {
    write_profile(fuse, fusion_conditions(options_.backend, options_.plan.numerics));
    report_ = {};
    compile(swiglu_.graph(), options_);
    ASSERT_EQ(report_.fusion.size(), 1u);
    const FusionReport& decided = report_.fusion[0];
    EXPECT_EQ(decided.source, "profile") << "nothing was measured";
    EXPECT_EQ(decided.decision, fuse ? FusionReport::kFused : FusionReport::kStored);
    EXPECT_EQ(decided.ratio, fuse ? 0.5 : 2.0);
    EXPECT_EQ(stored_as(report_, "f32[4, 48]") >= 2, !fuse) << report_.text();
    EXPECT_THAT(report_.notes, Not(Contains(HasSubstr("fusion profile"))));
    EXPECT_THAT(report_.text(), HasSubstr(fuse ? "fused, profile; fused / unfused 0.500"
                                               : "stored, profile; fused / unfused 2.000"));
    EXPECT_THAT(report_.json(), HasSubstr("\"decision\": \""));
  }
}

TEST_F(FusionProfileFile, ACachedPlanIsOfTheSameDecision) {
  options_.storage.cache_folder = (folder_ / "cache").string();
  std::vector<size_t> stored;
  for (bool fuse : {true, false, true}) {
    write_profile(fuse, fusion_conditions(options_.backend, options_.plan.numerics));
    report_ = {};
    compile(swiglu_.graph(), options_);
    stored.push_back(stored_as(report_, "f32[4, 48]"));
    ASSERT_EQ(report_.fusion.size(), 1u) << "said of plans from the cache as well";
  }
  EXPECT_NE(stored[0], stored[1]);
  EXPECT_EQ(stored[0], stored[2]);
  EXPECT_THAT(report_.stages.at(1).summary, HasSubstr("from the cache"));
}

TEST_F(FusionProfileFile, OfAnotherDeviceIsNotUsedAndStays) {
  FusionConditions foreign = fusion_conditions(options_.backend, options_.plan.numerics);
  foreign.device = "someone else's";
  foreign.description = "another processor";
  write_profile(false, foreign);
  const std::string before = FusionProfile::read(options_.storage.fusion_profile).json();
  compile(swiglu_.graph(), options_);
  EXPECT_THAT(report_.notes, Contains(HasSubstr("is for another device ('another processor'")));
  EXPECT_THAT(report_.fusion.at(0).source, "measured now");
  EXPECT_GT(report_.fusion.at(0).rounds, 0);
  EXPECT_EQ(FusionProfile::read(options_.storage.fusion_profile).json(), before);
}

TEST_F(FusionProfileFile, WhatItDoesNotHoldIsMeasuredAndKept) {
  const PatternGraph other(FusionPattern::SwiGlu, {.tokens = 5, .hidden = 32, .intermediate = 40},
                           1);
  compile(other.graph(), options_);
  EXPECT_THAT(report_.notes, Contains(HasSubstr("there is no fusion profile")));
  EXPECT_EQ(report_.fusion.at(0).source, "measured now");
  const FusionReport measured = report_.fusion.at(0);
  EXPECT_LE(measured.low, measured.ratio);
  EXPECT_LE(measured.ratio, measured.high);
  EXPECT_GE(measured.rounds, 7);
  report_ = {};
  compile(other.graph(), options_);
  EXPECT_EQ(report_.fusion.at(0).source, "profile");
  EXPECT_EQ(report_.fusion.at(0).ratio, measured.ratio);
  EXPECT_EQ(report_.fusion.at(0).decision, measured.decision);
}

TEST_F(FusionProfileFile, NoneAtAllIsSaid) {
  options_.storage.fusion_profile.clear();
  const PatternGraph other(FusionPattern::SwiGlu, {.tokens = 6, .hidden = 32, .intermediate = 40},
                           1);
  compile(other.graph(), options_);
  EXPECT_THAT(report_.notes, Contains(HasSubstr("no fusion profile is given")));
  EXPECT_EQ(report_.fusion.at(0).source, "measured now");
  report_ = {};
  compile(other.graph(), options_);
  EXPECT_EQ(report_.fusion.at(0).source, "measured before") << "in this process";
}

TEST_F(FusionProfileFile, RecordsDecideWithoutAProfile) {
  options_.storage.fusion_profile.clear();
  for (bool fuse : {true, false}) {
    use_records(fuse ? "fused" : "stored");
    FusionRecords(options_).put(FusionPattern::SwiGlu, shape_, answer_of(fuse));
    report_ = {};
    compile(swiglu_.graph(), options_);
    ASSERT_EQ(report_.fusion.size(), 1u);
    const FusionReport& decided = report_.fusion[0];
    EXPECT_EQ(decided.source, "records") << "nothing was measured";
    EXPECT_EQ(decided.decision, fuse ? FusionReport::kFused : FusionReport::kStored);
    EXPECT_EQ(decided.ratio, fuse ? 0.5 : 2.0);
    EXPECT_EQ(stored_as(report_, "f32[4, 48]") >= 2, !fuse) << report_.text();
    EXPECT_THAT(report_.notes, Not(Contains(HasSubstr("fusion profile"))));
  }
}

TEST_F(FusionProfileFile, WhatWasMeasuredIsFoundInTheRecords) {
  options_.storage.fusion_profile.clear();
  use_records("first");
  const PatternGraph other(FusionPattern::SwiGlu, {.tokens = 7, .hidden = 32, .intermediate = 40},
                           1);
  compile(other.graph(), options_);
  ASSERT_EQ(report_.fusion.at(0).source, "measured now");
  const FusionReport measured = report_.fusion.at(0);
  std::stringstream lines;
  records::Store::open(options_.storage.records, records::Mode::ReadOnly).export_lines(lines);
  EXPECT_THAT(lines.str(), HasSubstr("fusion of swiglu, 32 to 40, f32; backend cpu"));
  // As on another machine of the same kind, with a profile to write.
  use_records("second");
  EXPECT_EQ(records::Store::open(options_.storage.records).import_lines(lines, "test").refused, 0);
  options_.storage.fusion_profile = (folder_ / "exported.json").string();
  report_ = {};
  compile(other.graph(), options_);
  EXPECT_EQ(report_.fusion.at(0).source, "records");
  EXPECT_EQ(report_.fusion.at(0).ratio, measured.ratio);
  EXPECT_EQ(report_.fusion.at(0).decision, measured.decision);
  EXPECT_EQ(FusionProfile::read(options_.storage.fusion_profile).size(), 1u);
}

TEST_F(FusionProfileFile, AProfileGoesBeforeTheRecords) {
  use_records("records");
  FusionRecords(options_).put(FusionPattern::SwiGlu, shape_, answer_of(false));
  write_profile(true, fusion_conditions(options_.backend, options_.plan.numerics));
  compile(swiglu_.graph(), options_);
  EXPECT_EQ(report_.fusion.at(0).source, "profile");
  EXPECT_EQ(report_.fusion.at(0).decision, FusionReport::kFused);
}

TEST_F(FusionProfileFile, OfAnotherDeviceIsSaidWhereTheRecordsAnswer) {
  use_records("records");
  FusionRecords(options_).put(FusionPattern::SwiGlu, shape_, answer_of(true));
  FusionConditions foreign = fusion_conditions(options_.backend, options_.plan.numerics);
  foreign.device = "someone else's";
  write_profile(false, foreign);
  compile(swiglu_.graph(), options_);
  EXPECT_EQ(report_.fusion.at(0).source, "records");
  EXPECT_THAT(report_.notes, Contains(testing::EndsWith("it is not used")));
}

TEST_F(FusionProfileFile, RecordsThatCannotBeOpenedAreANote) {
  options_.storage.fusion_profile.clear();
  use_records("none of ours");
  std::ofstream(options_.storage.records)
      << "not a database at all, but long enough to be looked at";
  const PatternGraph other(FusionPattern::SwiGlu, {.tokens = 9, .hidden = 32, .intermediate = 40},
                           1);
  compile(other.graph(), options_);
  EXPECT_EQ(report_.fusion.at(0).source, "measured now");
  EXPECT_THAT(report_.notes, Contains(HasSubstr("tuning records are not used from here on")));
}

TEST_F(FusionProfileFile, DamagedIsAnErrorWithAWayOut) {
  std::ofstream(options_.storage.fusion_profile) << "{\"luminal_fusion_profile\": 1";
  EXPECT_THAT(user_error([&] { compile(swiglu_.graph(), options_); }),
              HasSubstr("can't be used: it isn't JSON; remove it, or make it again"));
}

TEST_F(FusionProfileFile, ShouldFuseAnswersWithoutMeasuring) {
  write_profile(true, fusion_conditions(options_.backend, options_.plan.numerics));
  const FusionAnswer answer = should_fuse(FusionPattern::SwiGlu, shape_, options_);
  EXPECT_TRUE(answer.fuse);
  EXPECT_EQ(answer.source, FusionSource::Profile);
  EXPECT_EQ(answer.rounds, 11);
  EXPECT_THAT(user_error([&] { should_fuse(FusionPattern::SwiGlu, {.tokens = 4}, options_); }),
              HasSubstr("can't be measured; give sizes of at least 1"));
}

}  // namespace
}  // namespace luminal
