#include "luminal/base/read_bandwidth.h"

#include <gtest/gtest.h>

namespace luminal::base {
namespace {

TEST(ReadBandwidth, IsPositiveAndTheBestIsNotBelowTheMedian) {
  const ReadBandwidth result = measure_read_bandwidth(2, 0.0);
  EXPECT_EQ(result.passes, 3u);
  EXPECT_EQ(result.threads, 2u);
  EXPECT_GT(result.buffer_bytes, 0u);
  EXPECT_LE(result.buffer_bytes, size_t{1} << 30);
  EXPECT_GT(result.median, 0.01);
  EXPECT_GE(result.best, result.median);
}

TEST(ReadBandwidth, NoThreadsMeansOne) { EXPECT_EQ(measure_read_bandwidth(0, 0.0).threads, 1u); }

}  // namespace
}  // namespace luminal::base
