#include "apps/bench/llm/model_fusion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "luminal/base/errors.h"
#include "luminal/base/os/paths.h"

namespace luminal::bench {
namespace {

using ::testing::HasSubstr;

std::filesystem::path small_model() {
  return std::filesystem::path(base::environment("LUMINAL_TEST_MODELS").value_or(LUMINAL_MODELS)) /
         "stories260k";
}

ModelFusionOptions short_options() {
  ModelFusionOptions options;
  options.model = small_model().string();
  options.settings = {{.prefill = 8, .decode = 3}, {.prefill = 3, .decode = 1}};
  options.runs = 7;
  options.session.compile.backend.threads = 1;
  options.session.compile.storage.cache_folder = "none";
  return options;
}

TEST(ModelFusion, EveryPolicyAnswersEverySetting) {
  if (!std::filesystem::exists(small_model())) {
    GTEST_SKIP() << "there is no " << small_model() << "; set LUMINAL_TEST_MODELS";
  }
  std::vector<Moment> said;
  const ModelFusion result =
      run_model_fusion(short_options(), [&](const Moment& moment) { said.push_back(moment); });
  // Three compiles, then every setting's runs and one before them.
  ASSERT_EQ(said.size(), 3u + 2 * 8);
  EXPECT_EQ(said.back().done, 15);
  EXPECT_EQ(said.back().total, 16);
  // Every op its own kernel, and as few as can be.
  EXPECT_GT(result.kernels[0], result.kernels[1]);
  const auto parsed = nlohmann::json::parse(model_fusion_json(result));
  EXPECT_EQ(parsed["config"]["runs"], 7);
  EXPECT_EQ(parsed["config"]["kernels"].size(), 3u);
  EXPECT_EQ(parsed["results"].size(), 3u);
  for (const char* policy : {"never", "always", "measured"}) {
    for (const char* setting : {"[prefill=8, decode=3]", "[prefill=3, decode=1]"}) {
      const auto& times = parsed["results"][policy][setting];
      EXPECT_GT(times["total_ms"], 0);
      EXPECT_LE(times["first_token_ms"], times["total_ms"]);
      EXPECT_EQ(times["total_ms_samples"].size(), times["hopeless"] ? 1u : 7u);
      EXPECT_EQ(times["same_answer"], true);
    }
  }
  const auto& ratio = parsed["ratios"]["[prefill=8, decode=3]"]["measured_by_better"];
  EXPECT_LE(ratio["low"], ratio["ratio"]);
  EXPECT_GE(ratio["high"], ratio["ratio"]);
}

TEST(ModelFusion, TheTableNamesWhereFusingLoses) {
  ModelFusion result;
  result.kernels = {3, 1, 2};
  for (const double always : {2.0, 0.5}) {
    SettingTimes times{.setting = {.prefill = always > 1 ? 128 : 512, .decode = 16},
                       .of_policy = {},
                       .always_by_never = {.verdict = Verdict::Slower,
                                           .ratio = always,
                                           .interval = {.low = always - 0.1, .high = always + 0.1}},
                       .measured_by_better = {}};
    for (int p = 0; p < 3; ++p) {
      times.of_policy.push_back({.total_ms = {1}, .first_ms = {1}, .same_answer = true});
    }
    result.settings.push_back(times);
  }
  EXPECT_THAT(model_fusion_table(result),
              HasSubstr("fusing everything loses in 1 of 2 settings: [prefill=128, decode=16]\n"));
}

TEST(ModelFusion, WhatIsFarBehindInItsFirstRunGetsNoOthers) {
  SettingTimes times{.setting = {.prefill = 1, .decode = 1},
                     .of_policy = std::vector<PolicyTimes>(3, {{10.0}, {10.0}}),
                     .always_by_never = {},
                     .measured_by_better = {}};
  const auto hopeless = [&](double never, double always, double measured) {
    times.of_policy[0].total_ms = {never};
    times.of_policy[1].total_ms = {always};
    times.of_policy[2].total_ms = {measured};
    give_up_hopeless(times);
    std::string out;
    for (const PolicyTimes& of : times.of_policy) out += of.hopeless ? 'x' : '-';
    return out;
  };
  EXPECT_EQ(hopeless(41, 10, 10), "x--");
  EXPECT_EQ(hopeless(10, 41, 10), "-x-");
  EXPECT_EQ(hopeless(39, 10, 10), "---");
  EXPECT_EQ(hopeless(10, 10, 100), "---");  // it is what the others are there for

  ModelFusion result;
  result.kernels = {3, 1, 2};
  hopeless(10, 41, 10);
  times.always_by_never = judge({4.1}, 0.95, 0);
  result.settings = {times};
  EXPECT_THAT(model_fusion_table(result), HasSubstr("4.100 (one run)"));
  EXPECT_THAT(model_fusion_table(result), HasSubstr("fusing everything loses in 1 of 1 settings"));
  const auto parsed = nlohmann::json::parse(model_fusion_json(result));
  EXPECT_EQ(parsed["ratios"]["[prefill=1, decode=1]"]["always_loses"], true);
}

// Fewer runs than an interval needs leave it open, which isn't a number in JSON.
TEST(ModelFusion, TooFewRunsHaveNoUpperEnd) {
  ModelFusion result;
  result.kernels = {3, 1, 2};
  SettingTimes times{.setting = {.prefill = 1, .decode = 1},
                     .of_policy = std::vector<PolicyTimes>(3, {{1.0}, {1.0}, true}),
                     .always_by_never = judge({1.0}, 0.95, 0),
                     .measured_by_better = judge({1.0}, 0.95, 0.03)};
  result.settings.push_back(times);
  const auto parsed = nlohmann::json::parse(model_fusion_json(result));
  EXPECT_TRUE(parsed["ratios"]["[prefill=1, decode=1]"]["always_by_never"]["high"].is_null());
}

TEST(ModelFusion, NoSettingIsAnError) {
  EXPECT_THROW(run_model_fusion({}, [](const Moment&) {}), UserError);
}

}  // namespace
}  // namespace luminal::bench
