// Peaks: every unit this machine has does something, and the figures hang together.
#include "apps/bench/kernels/peaks.h"

#include <gtest/gtest.h>

#include "apps/bench/kernels/case.h"
#include "luminal/machine/compute_units.h"
#include "luminal/machine/streams.h"

namespace luminal::bench {
namespace {

TEST(Peaks, EveryUnitOfEveryDtypeRuns) {
  for (DType dtype : kDTypes) {
    const std::vector<machine::ComputeUnit> units = machine::compute_units(dtype);
    ASSERT_FALSE(units.empty());
    for (const machine::ComputeUnit& unit : units) {
      const double rate = machine::measure_unit(unit, 2, 0.005);
      EXPECT_GT(rate, 1e8) << unit.name;
      EXPECT_LT(rate, 1e15) << unit.name << ": the compiler left it out";
    }
  }
}

TEST(Peaks, StreamsOfAllSizesRunOnOneThreadAndMore) {
  for (size_t bytes : {size_t{1}, size_t{24} << 10, size_t{1} << 20, size_t{8} << 20}) {
    for (int threads : {1, 2}) {
      const machine::StreamRates rates = machine::measure_streams(bytes, threads, 0.002);
      EXPECT_GT(rates.read, 0.1) << bytes;
      EXPECT_LT(rates.read, 1e5) << bytes << ": the compiler left it out";
      EXPECT_GT(rates.copy, 0.1) << bytes;
      EXPECT_LT(rates.copy, 1e5) << bytes;
    }
  }
}

TEST(Peaks, AreThereForEachThreadCountLevelAndDtype) {
  int said = 0;
  const Peaks peaks = measure_peaks({1, 2}, 0.001, [&](const Moment&) { ++said; });
  EXPECT_EQ(peaks.bandwidths.size(), 2 * 4u);
  EXPECT_EQ(peaks.computes.size(), 2 * 4u);
  EXPECT_EQ(said, 16);
  for (int threads : {1, 2}) {
    EXPECT_EQ(peaks.bandwidth_for(1e3, threads).where, "L1");
    EXPECT_EQ(peaks.bandwidth_for(1e12, threads).where, "memory");
    for (DType dtype : kDTypes) EXPECT_FALSE(peaks.compute_for(dtype, threads).by.empty());
  }
}

}  // namespace
}  // namespace luminal::bench
