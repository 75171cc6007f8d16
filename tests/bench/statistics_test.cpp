// Quantiles, intervals and verdicts on samples whose truth is known.
#include "apps/bench/harness/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace luminal::bench {
namespace {

TEST(Statistics, QuantilesLieBetweenSamples) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(median({7}), 7);
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_DOUBLE_EQ(quantile({0, 10, 20, 30, 40}, 0.1), 4);
  EXPECT_DOUBLE_EQ(quantile({0, 10, 20, 30, 40}, 0), 0);
  EXPECT_DOUBLE_EQ(quantile({0, 10, 20, 30, 40}, 1), 40);
}

TEST(Statistics, IntervalsOfTheMedianAreTheSignTests) {
  // Of ten samples the 2nd and 9th: P(at most one of ten tosses) = 11 / 1024.
  const std::vector<double> ten = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const Interval at_95 = median_interval(ten, 0.95);
  EXPECT_EQ(at_95.low, 2);
  EXPECT_EQ(at_95.high, 9);
  const Interval at_99 = median_interval(ten, 0.99);
  EXPECT_EQ(at_99.low, 1);
  EXPECT_EQ(at_99.high, 10);
}

TEST(Statistics, TooFewSamplesSayNothing) {
  for (size_t n : {0u, 1u, 3u}) {
    const Interval interval = median_interval(std::vector<double>(n, 1.0), 0.95);
    EXPECT_EQ(interval.low, 0);
    EXPECT_TRUE(std::isinf(interval.high));
  }
  EXPECT_EQ(judge({1, 1, 1}, 0.95, 0.05).verdict, Verdict::NotDecided);
}

TEST(Statistics, IntervalsHoldTheMedianAsOftenAsTheySay) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> skewed(1);
  int outside = 0;
  constexpr int kTries = 2000;
  for (int i = 0; i < kTries; ++i) {
    std::vector<double> samples(30);
    for (double& sample : samples) sample = skewed(random);
    const Interval interval = median_interval(samples, 0.95);
    outside += interval.low > std::log(2.0) || interval.high < std::log(2.0);
  }
  EXPECT_LE(outside, kTries * 0.06);
  EXPECT_GE(outside, kTries * 0.02);  // it isn't just wide
}

// Rounds as a busy machine has them: both sides vary, and one in eight is disturbed.
std::vector<double> noisy_ratios(double truth, size_t rounds, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, 0.04);
  std::bernoulli_distribution disturbed(0.125);
  std::uniform_real_distribution<double> delay(0, 1);
  const auto side = [&](double time) {
    return time * std::exp(noise(random)) * (disturbed(random) ? 1 + delay(random) : 1);
  };
  std::vector<double> ratios;
  for (size_t i = 0; i < rounds; ++i) ratios.push_back(side(truth) / side(1));
  return ratios;
}

// A whole run: 60 cases, looked at up to three times, as compare() does.
int count_slower(double planted, uint64_t seed) {
  constexpr int kCases = 60, kLooks = 3;
  int slower = 0;
  for (int c = 0; c < kCases; ++c) {
    const double truth = c == 17 ? 1 + planted : 1;
    const std::vector<double> all =
        noisy_ratios(truth, 210, seed * 1000 + static_cast<uint64_t>(c));
    for (size_t rounds : {30, 90, 210}) {
      const std::vector<double> seen(all.begin(), all.begin() + static_cast<long>(rounds));
      const Verdict verdict = judge(seen, shared_confidence(0.95, kCases * kLooks), 0.05).verdict;
      if (verdict == Verdict::NotDecided) continue;
      slower += verdict == Verdict::Slower;
      break;
    }
  }
  return slower;
}

TEST(Statistics, APlantedSlowdownIsFlaggedAndNothingElse) {
  int flagged = 0, false_alarms = 0;
  for (uint64_t run = 0; run < 10; ++run) {
    flagged += count_slower(0.15, run) == 1;
    false_alarms += count_slower(0, 100 + run) > 0;
  }
  EXPECT_GE(flagged, 9);
  EXPECT_LE(false_alarms, 1);
}

TEST(Statistics, VerdictsFollowTheIntervalAndTheMargin) {
  const auto verdict = [](double ratio, double margin) {
    return judge(noisy_ratios(ratio, 400, 3), 0.99, margin).verdict;
  };
  EXPECT_EQ(verdict(1.0, 0.05), Verdict::Same);
  EXPECT_EQ(verdict(1.15, 0.05), Verdict::Slower);
  EXPECT_EQ(verdict(0.85, 0.05), Verdict::Faster);
  EXPECT_EQ(verdict(1.15, 0.3), Verdict::Same);
  EXPECT_EQ(verdict(1.15, 0.15), Verdict::NotDecided);
  EXPECT_STREQ(name(Verdict::NotDecided), "not decided");
}

TEST(Statistics, ConfidenceIsSharedByAllQuestions) {
  EXPECT_DOUBLE_EQ(shared_confidence(0.95, 1), 0.95);
  EXPECT_DOUBLE_EQ(shared_confidence(0.95, 50), 0.999);
  EXPECT_DOUBLE_EQ(shared_confidence(0.95, 0), 0.95);
}

}  // namespace
}  // namespace luminal::bench
