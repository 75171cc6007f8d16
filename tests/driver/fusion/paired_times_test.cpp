// Medians with intervals, and rivals that run in turns.
#include "luminal/driver/fusion/paired_times.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <random>
#include <string>
#include <thread>

namespace luminal {
namespace {

TEST(MedianInterval, IsByOrderStatistics) {
  std::vector<double> values(7);
  std::iota(values.begin(), values.end(), 1.0);
  const MedianInterval seven = median_interval(values);
  EXPECT_EQ(seven.median, 4);
  EXPECT_EQ(seven.low, 1);  // of seven, all are needed for 95 %
  EXPECT_EQ(seven.high, 7);
  values.resize(21);
  std::iota(values.begin(), values.end(), 1.0);
  const MedianInterval more = median_interval(values);
  EXPECT_EQ(more.median, 11);
  EXPECT_EQ(more.low, 6);  // the table of the sign test: ranks 6 and 16 of 21
  EXPECT_EQ(more.high, 16);
  EXPECT_EQ(median_interval({3, 1}).median, 2);
  EXPECT_EQ(median_interval({5}).low, 5);
}

TEST(MedianInterval, HoldsTheMedianAsOftenAsItSays) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> skewed(0, 1);  // its median is 1
  int held = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(25);
    for (double& value : values) value = skewed(random);
    const MedianInterval found = median_interval(values);
    held += found.low <= 1 && found.high >= 1;
  }
  EXPECT_GE(held, 0.95 * kTrials);
}

TEST(PairedTimes, TellsAFactorOfTwoFromNone) {
  const auto wait = [](int microseconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  const PairedTimes times =
      paired_times({[&] { wait(200); }, [&] { wait(100); }, [&] { wait(200); }}, 0.05);
  ASSERT_EQ(times.size(), 3u);
  EXPECT_GE(times[0].size(), 7u);
  EXPECT_EQ(times[0].size(), times[2].size());
  EXPECT_GT(ratio_of(times[0], times[1]).low, 1.2);
  EXPECT_NEAR(ratio_of(times[0], times[2]).median, 1, 0.2);
}

TEST(PairedTimes, OrderChangesFromRoundToRound) {
  std::string order;
  // Longer than a piece of a round, so that each runs once in it.
  const auto run = [&](char name) {
    order += name;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  paired_times({[&] { run('a'); }, [&] { run('b'); }}, 0);
  EXPECT_EQ(order.substr(0, 4), "aabb") << "each twice before";
  EXPECT_EQ(order.substr(4, 8), "abbabaab");
}

}  // namespace
}  // namespace luminal
