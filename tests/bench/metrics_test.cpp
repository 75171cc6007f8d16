// What figures a case's times become: arithmetic against numbers worked out by hand.
#include "apps/bench/kernels/metrics.h"

#include <gtest/gtest.h>

#include "luminal/base/errors.h"

namespace luminal::bench {
namespace {

Peaks peaks() {
  return {.bandwidths = {{"L1", 2, 96e3, 400, "read"},
                         {"L2", 2, 4e6, 200, "read"},
                         {"L3", 2, 300e6, 100, "copy"},
                         {"memory", 2, 0, 40, "copy"}},
          .computes = {{DType::F32, 2, 500, "fma-avx512"}, {DType::BF16, 2, 4000, "amx-bf16"}}};
}

Measured measured(double bytes, double flops, std::vector<double> seconds) {
  Measured of{.of = {}, .threads = 2, .bytes = bytes, .working_set = bytes, .seconds = seconds};
  of.of.op = "add";
  of.of.size = Size::L2;
  of.of.flops = flops;
  return of;
}

TEST(Metrics, RatesAreOfTheMedianAndSharesOfThePeaks) {
  // 1 MB and 2 Mflop in 10 µs.
  const Metrics metrics = metrics_of(measured(1e6, 2e6, {9e-6, 10e-6, 20e-6}), peaks());
  EXPECT_DOUBLE_EQ(metrics.median, 10e-6);
  EXPECT_DOUBLE_EQ(metrics.best, 9e-6);
  EXPECT_NEAR(metrics.p10, 9.2e-6, 1e-12);
  EXPECT_NEAR(metrics.p90, 18e-6, 1e-12);
  EXPECT_NEAR(metrics.spread, 0.88, 1e-9);
  EXPECT_NEAR(metrics.gb_per_second, 100, 1e-9);
  EXPECT_NEAR(metrics.gflop_per_second, 200, 1e-9);
  EXPECT_EQ(metrics.fits, "L2");
  EXPECT_NEAR(metrics.mbu, 0.5, 1e-12);
  EXPECT_NEAR(metrics.mfu, 0.4, 1e-12);
  EXPECT_NEAR(metrics.roof, 0.5, 1e-12);
}

TEST(Metrics, ThePeakIsThatOfWhereTheDataFits) {
  for (const auto& [bytes, where] : {std::pair<double, const char*>{96e3, "L1"},
                                     {96001, "L2"},
                                     {5e6, "L3"},
                                     {301e6, "memory"}}) {
    EXPECT_EQ(metrics_of(measured(bytes, 0, {1e-3}), peaks()).fits, where) << bytes;
  }
}

TEST(Metrics, DtypesHavePeaksOfTheirOwn) {
  Measured of = measured(1e3, 4e6, {1e-6});
  of.of.dtype = DType::BF16;
  EXPECT_NEAR(metrics_of(of, peaks()).mfu, 1.0, 1e-9);
  EXPECT_EQ(of.name(), "add/l2/bf16/cpu/t2");
}

TEST(Metrics, AnOpWithoutFlopsHasNoMfu) {
  const Metrics metrics = metrics_of(measured(1e6, 0, {1e-5}), peaks());
  EXPECT_EQ(metrics.mfu, 0);
  EXPECT_EQ(metrics.gflop_per_second, 0);
  EXPECT_GT(metrics.roof, 0);
}

TEST(Metrics, PeaksOfOtherThreadsAreNotTaken) {
  Measured of = measured(1e6, 0, {1e-5});
  of.threads = 1;
  EXPECT_THROW(metrics_of(of, peaks()), InternalError);
}

TEST(Metrics, OfTwoMeasurementsOfAPeakTheBetterCounts) {
  Peaks first = peaks(), again = peaks();
  again.bandwidths[0].gb_per_second = 500;
  again.bandwidths[1].gb_per_second = 10;
  again.computes[1].gflop_per_second = 5000;
  first.improve_by(again);
  EXPECT_EQ(first.bandwidths[0].gb_per_second, 500);
  EXPECT_EQ(first.bandwidths[1].gb_per_second, 200);
  EXPECT_EQ(first.computes[0].gflop_per_second, 500);
  EXPECT_EQ(first.computes[1].gflop_per_second, 5000);
}

}  // namespace
}  // namespace luminal::bench
