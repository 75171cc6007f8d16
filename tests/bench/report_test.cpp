// The JSON that suites write, read by another reader; and the page around it.
#include "apps/bench/kernels/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/bench/harness/page.h"
#include "luminal/base/errors.h"

namespace luminal::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Report report() {
  Report of;
  of.command = "luminal bench micro --quick";
  of.when = "2024-02-29T12:00:00Z";
  of.min_seconds = 0.1;
  of.peaks = {.bandwidths = {{"L1", 1, 48e3, 200, "read"}, {"memory", 1, 0, 20, "copy"}},
              .computes = {{DType::F32, 1, 100, "fma-avx512"}}};
  Measured measured;
  measured.of = cases(Level::Micro).front();  // exp2/tiny/f32
  measured.bytes = measured.working_set = 136;
  measured.kernels = 1;
  measured.seconds = {1e-6, 2e-6, 4e-6};
  of.cases = {measured};
  of.left_out = {{"add/dram/f32/interp/t1", "too long"}};
  return of;
}

TEST(Report, MetricsHoldEverySampleWithItsFigures) {
  const json metrics = json::parse(metrics_json(report()));
  EXPECT_EQ(metrics.at("level"), "micro");
  const json& of = metrics.at("cases").at(0);
  EXPECT_EQ(of.at("name"), "exp2/tiny/f32/cpu/t1");
  EXPECT_EQ(of.at("seconds"), json({1e-6, 2e-6, 4e-6}));
  EXPECT_NEAR(of.at("gb_per_second").at(0), 0.136, 1e-12);
  EXPECT_NEAR(of.at("gflop_per_second").at(1), 0.0085, 1e-12);
  EXPECT_NEAR(of.at("mbu").at(0), 0.136 / 200, 1e-12);
  EXPECT_NEAR(of.at("mfu").at(2), 17e-9 / 4e-6 / 100, 1e-12);
}

TEST(Report, SummaryHasMachineVersionSettingsPeaksAndCases) {
  const json of = json::parse(report_json(report()));
  EXPECT_EQ(of.at("format"), 1);
  EXPECT_FALSE(of.at("machine").at("processor").get<std::string>().empty());
  EXPECT_THAT(of.at("version").get<std::string>(), HasSubstr("0."));
  EXPECT_EQ(of.at("settings").at("min_seconds"), 0.1);
  EXPECT_EQ(of.at("peaks").at("bandwidth").size(), 2u);
  EXPECT_EQ(of.at("peaks").at("compute").at(0).at("by"), "fma-avx512");
  const json& first = of.at("cases").at(0);
  EXPECT_EQ(first.at("median_seconds"), 2e-6);
  EXPECT_EQ(first.at("fits"), "L1");
  for (const char* key : {"bytes", "flops", "p10_seconds", "p90_seconds", "spread", "mbu", "mfu",
                          "roof", "gb_per_second", "gflop_per_second", "samples", "kernels"}) {
    EXPECT_TRUE(first.at(key).is_number()) << key;
  }
  EXPECT_EQ(of.at("left_out").at(0).at("why"), "too long");
}

TEST(Report, HistoryGrowsByARunAndForgetsTheOldest) {
  std::string history = history_json("", report());
  for (int i = 0; i < 80; ++i) history = history_json(history, report());
  const json of = json::parse(history);
  EXPECT_EQ(of.at("runs").size(), 60u);
  EXPECT_NEAR(of.at("runs").at(0).at("roof").at("exp2/tiny/f32/cpu/t1"), 0.0003, 1e-9);
}

TEST(Report, AHistoryThatIsNoneIsNotOverwritten) {
  for (const char* text : {"{", "[]", "{\"format\": 2, \"runs\": []}", "{\"format\": 1}"}) {
    try {
      history_json(text, report());
      FAIL() << text;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("move it away"));
    }
  }
}

TEST(Report, ComparisonsHaveAVerdictAndItsInterval) {
  Baseline baseline;
  baseline.made_by = "0.0.9 (abc)";
  Comparison of;
  of.baseline = &baseline;
  Compared slower;
  slower.name = "add/l1/f32/cpu/t1";
  slower.judgement = {Verdict::Slower, 1.2, {1.1, 1.3}};
  slower.ratios = {1.1, 1.2, 1.3};
  Compared gone;
  gone.name = "old/l1/f32/cpu/t1";
  gone.why_not = "this build has no such case";
  of.cases = {slower, gone};
  const json read = json::parse(comparison_json(of));
  EXPECT_EQ(read.at("baseline_version"), "0.0.9 (abc)");
  EXPECT_EQ(read.at("cases").at(0).at("verdict"), "slower");
  EXPECT_EQ(read.at("cases").at(0).at("low"), 1.1);
  EXPECT_EQ(read.at("cases").at(1).at("verdict"), "not compared");
  EXPECT_FALSE(read.contains("planted_slowdown"));
  of.settings.planted_share = 0.15;
  EXPECT_TRUE(json::parse(comparison_json(of)).contains("planted_slowdown"));
}

TEST(Page, HoldsItsDataAndNothingFromElsewhere) {
  const std::string page = make_page(
      {{"micro",
        {.report = report_json(report()), .history = history_json("", report()), .compare = {}}},
       {"patterns", {}}});
  EXPECT_THAT(page, HasSubstr("exp2/tiny/f32/cpu/t1"));
  EXPECT_EQ(page.find("@DATA@"), std::string::npos);
  // Works offline: nothing is fetched.
  for (const char* link : {"src=", "http:", "https:", "@import", "url("}) {
    const size_t at = page.find(link);
    if (at == std::string::npos) continue;
    // The name of SVG's namespace is no address.
    EXPECT_EQ(page.substr(at, 26), "http://www.w3.org/2000/svg") << link;
  }
}

TEST(Page, TextThatLooksLikeTheEndOfAScriptIsHarmless) {
  Report of = report();
  of.command = "</script><script>alert(1)</script>";
  const std::string page =
      make_page({{"micro", {.report = report_json(of), .history = {}, .compare = {}}}});
  EXPECT_EQ(page.find("</script><script>alert"), std::string::npos);
  EXPECT_THAT(page, HasSubstr("<\\/script>"));
}

}  // namespace
}  // namespace luminal::bench
