// The calibration of the cost model as a file: written, read, refused, and what plans it decides.
#include "luminal/driver/options/calibration_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "luminal/base/errors.h"
#include "luminal/base/files/replace_file.h"
#include "luminal/base/os/paths.h"
#include "luminal/driver/calibrate/calibrate.h"
#include "luminal/driver/calibrate/recorded_samples.h"
#include "luminal/driver/options/machine_peaks.h"
#include "luminal/driver/plan/plan_key.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/graph/traverse.h"
#include "luminal/luminal.h"
#include "luminal/machine/kept_peaks.h"

namespace luminal {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

search::Calibration doubled() {
  search::Calibration calibration = search::no_calibration();
  for (search::KindFactors& kind : calibration.kinds) {
    kind.factors[static_cast<size_t>(search::CostPart::Arithmetic)] = 2;
    kind.waiting = 0.5;
  }
  calibration.samples = 162;
  calibration.before = {.kernels = 160, .median_ratio = 1.4, .rank_correlation = 0.91};
  calibration.after = {.kernels = 160, .median_ratio = 1.125, .rank_correlation = 0.982};
  return calibration;
}

KeptCalibration kept() {
  return kept_calibration(doubled(), machine::default_peaks("avx512", 2), "avx2");
}

std::string refusal(const std::string& json) {
  try {
    calibration_from_json(json, "some.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::string with(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

// A user's cache folder of its own.
class CalibrationFile : public testing::Test {
 protected:
  void SetUp() override {
    const char* set = std::getenv("XDG_CACHE_HOME");
    if (set != nullptr) before_ = set;
    setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  }
  void TearDown() override {
    before_.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", before_.c_str(), 1);
  }
  machine::Peaks peaks() const { return machine_peaks({}, ""); }
  void keep_doubled() const { keep(kept_calibration(doubled(), peaks(), ""), ""); }

  base::TemporaryFolder folder_;
  std::string before_;
};

TEST(CalibrationText, ReadsBackAsItWas) {
  const std::string json = to_json(kept());
  const KeptCalibration read = calibration_from_json(json, "some.json");
  EXPECT_EQ(to_json(read), json);
  EXPECT_EQ(read.target, "avx2");
  EXPECT_EQ(read.differs_from(kept()), "");
  for (size_t k = 0; k < search::kKernelKinds; ++k) {
    EXPECT_EQ(read.calibration.kinds[k].factors, doubled().kinds[k].factors);
    EXPECT_EQ(read.calibration.kinds[k].waiting, 0.5);
  }
}

TEST(CalibrationText, WhatIsDamagedIsNamed) {
  const std::string json = to_json(kept());
  EXPECT_THAT(refusal("{"), AllOf(HasSubstr("some.json"), HasSubstr("isn't a JSON object"),
                                  HasSubstr("luminal tune calibrate")));
  EXPECT_THAT(refusal(with(json, "\"format\": 1", "\"format\": 2")), HasSubstr("another format"));
  EXPECT_THAT(refusal(with(json, "\"threads\"", "\"fred\"")), HasSubstr("'threads' is missing"));
  EXPECT_THAT(refusal(with(json, "\"row blocks\"", "\"rows\"")),
              HasSubstr("'row blocks' is missing"));
  EXPECT_THAT(refusal(with(json, "\"arithmetic\": 2", "\"arithmetic\": 0")),
              HasSubstr("'arithmetic' isn't a number from 0.001 to 1000"));
  EXPECT_THAT(refusal(with(json, "\"waiting\": 0.5", "\"waiting\": -1")), HasSubstr("'waiting'"));
}

TEST(CalibrationText, OtherMachinesAreOthers) {
  const auto of = [](const machine::Peaks& peaks, const std::string& target) {
    return kept_calibration({}, peaks, target).differs_from(kept());
  };
  machine::Peaks peaks = machine::default_peaks("avx512", 2);
  EXPECT_EQ(of(peaks, "avx2"), "");
  EXPECT_THAT(of(peaks, "sse2"), HasSubstr("instruction set sse2"));
  peaks.source = "another day";
  EXPECT_EQ(of(peaks, "avx2"), "");
  peaks.elementwise *= 1.01;
  EXPECT_THAT(of(peaks, "avx2"), HasSubstr("measured again"));
  peaks.processor = "Other";
  EXPECT_THAT(of(peaks, "avx2"), HasSubstr("another processor, Other"));
  EXPECT_THAT(of(machine::default_peaks("avx512", 3), "avx2"), HasSubstr("3 threads"));
}

TEST_F(CalibrationFile, IsFoundUnlessNothingIsKept) {
  EXPECT_EQ(text(find_calibration({}, peaks(), "")), "");
  keep_doubled();
  EXPECT_EQ(text(find_calibration({}, peaks(), "")),
            "calibrated by 162 kernels: off by 1.12 times (median), rank correlation 0.982");
  EXPECT_EQ(find_calibration({.cache_folder = "none"}, peaks(), "").calibration, nullptr);
}

TEST_F(CalibrationFile, GivenPeaksHaveTheirsBesideThem) {
  keep_doubled();
  const std::filesystem::path file = folder_.path() / "other.json";
  machine::Peaks other = machine::default_peaks("avx512", 64);
  other.processor = "Other";
  std::ofstream(file) << to_json(other);
  const StorageOptions storage{.cache_folder = "none", .machine = file};
  const machine::Peaks given = machine_peaks(storage, "");
  EXPECT_EQ(find_calibration(storage, given, "").calibration, nullptr);
  base::replace_file(folder_.path() / "other.calibration.json",
                     to_json(kept_calibration(doubled(), other, "")), base::FileReaders::Owner);
  EXPECT_NE(find_calibration(storage, given, "").calibration, nullptr);
}

TEST_F(CalibrationFile, OneThatIsDamagedOrOfOtherPeaksIsNotUsedAndThatIsSaid) {
  keep_doubled();
  machine::Peaks others = peaks();
  others.launch_seconds *= 2;
  const FoundCalibration stale = find_calibration({}, others, "");
  EXPECT_EQ(stale.calibration, nullptr);
  EXPECT_THAT(text(stale), HasSubstr("measured again"));
  const std::filesystem::path file = calibration_file(peaks().threads, "");
  base::replace_file(file, "{}", base::FileReaders::Owner);
  const FoundCalibration damaged = find_calibration({}, peaks(), "");
  EXPECT_EQ(damaged.calibration, nullptr);
  EXPECT_THAT(text(damaged), AllOf(HasSubstr("isn't used"), HasSubstr(file.string())));
}

TEST_F(CalibrationFile, ReportsQuoteItAndPlansAreOfIt) {
  Graph graph;
  softmax(graph.input("x", {64, 512}), -1).output("y");
  CompileReport before, after;
  CompileOptions options;
  options.report = &before;
  compile(graph, options);
  const auto key = [&] {
    const search::PlanningOptions planning = planning_options(graph, options);
    return plan_key({.place = place_of(options.backend),
                     .graph = graph,
                     .roots = roots(graph),
                     .planning = planning,
                     .packing = {}});
  };
  const std::string key_before = key();
  keep_doubled();
  EXPECT_NE(key(), key_before);
  options.report = &after;
  compile(graph, options);
  EXPECT_THAT(before.machine, Not(HasSubstr("calibrated")));
  EXPECT_THAT(after.machine, HasSubstr("calibrated by 162 kernels"));
  EXPECT_GT(after.model_us, before.model_us);
}

TEST(CalibrationCases, AreOfAllKindsAndHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const CalibrationCase& of : calibration_cases()) EXPECT_TRUE(names.insert(of.name).second);
  EXPECT_GE(names.size(), 150u);
}

TEST_F(CalibrationFile, ACaseIsTimed) {
  const CalibrationCase of = calibration_cases().front();
  const search::CostSample sample = plan_case(of, {});
  EXPECT_GT(time_case(of, {}), 0);
  ASSERT_FALSE(sample.kernels.empty());
  EXPECT_GT(seconds(sample, search::no_calibration()), 0);
}

TEST(CalibrationRecords, KernelsOfRecordsAreSamples) {
  const std::string kernel =
      "kernel\nvar s 1 4096\nparam p0 in f32[s, 64]\nparam p1 out f32[s]\nloop i0 s outer\n"
      "loop i1 64\nstage s0 f32 sum over i1\n  %0 = load p0[i0, i1] : f32\n  store p1[i0] %0\n";
  const auto entry = [](std::string key, bool checked = true) {
    return records::KernelEntry{
        .key = {.kernel = std::move(key), .device = "d", .compiler = "c"},
        .record = {.seconds = 2e-5, .low = 1e-5, .high = 3e-5, .samples = 9, .checked = checked}};
  };
  const std::vector<records::KernelEntry> entries = {
      entry(kernel + "params ro\ns = 128\n"), entry(kernel + "params ro\ns = 64\n", false),
      entry(kernel + "params ro\ns = 32\nschedule unroll 2\n"), entry("no kernel")};
  const std::vector<search::CostSample> samples =
      samples_of(entries, machine::default_peaks("avx512", 2));
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].kernels.at(0).kind, search::KernelKind::Reduction);
  EXPECT_EQ(samples[0].seconds, 2e-5);
  EXPECT_GT(samples[0].kernels[0].of(search::CostPart::L2), 0);
}

}  // namespace
}  // namespace luminal
