#include "luminal/llm/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "luminal/base/errors.h"

namespace luminal::llm {
namespace {

using ::testing::HasSubstr;
using Logits = std::vector<float>;

constexpr int kDraws = 20000;

// How often each token is drawn, as a share.
std::map<TokenId, double> shares(const SamplingOptions& options, const Logits& logits) {
  Sampler sampler(options);
  std::map<TokenId, double> counts;
  for (int i = 0; i < kDraws; ++i) counts[sampler.next(logits)] += 1.0 / kDraws;
  return counts;
}

// Logits of these chances.
Logits logits_of(const std::vector<double>& chances) {
  Logits logits;
  for (double chance : chances) logits.push_back(static_cast<float>(std::log(chance)));
  return logits;
}

// Within five standard deviations.
void expect_shares(const std::map<TokenId, double>& found,
                   const std::map<TokenId, double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [id, share] : expected) {
    ASSERT_TRUE(found.contains(id)) << id;
    EXPECT_NEAR(found.at(id), share, 1e-9 + 5 * std::sqrt(share * (1 - share) / kDraws)) << id;
  }
}

TEST(Sampler, GreedyTakesTheLargestAndOfEqualOnesTheFirst) {
  Sampler sampler({});
  EXPECT_EQ(sampler.next(Logits{0, 3, 2}), 1);
  EXPECT_EQ(sampler.next(Logits{-5, -1, -1, -1}), 1);
}

TEST(Sampler, WhatIsNoNumberIsNotChosen) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  const float most = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Sampler({}).next(Logits{none, -2, none}), 1);
  EXPECT_EQ(Sampler({.temperature = 1}).next(Logits{none, -most, -2, none}), 2);
  EXPECT_EQ(Sampler({.temperature = 1}).next(Logits{100, most, 100}), 1);
  EXPECT_THROW(Sampler({}).next(Logits{none, none}), UserError);
  EXPECT_THROW(Sampler({}).next(Logits{}), UserError);
}

TEST(Sampler, DrawsByTheSoftmaxOfTheLogits) {
  const Logits logits = logits_of({0.5, 0.3, 0.2});
  expect_shares(shares({.temperature = 1}, logits), {{0, 0.5}, {1, 0.3}, {2, 0.2}});
  // Of logits divided by the temperature: squares of the chances at a half, roots at two.
  expect_shares(shares({.temperature = 0.5}, logits),
                {{0, 0.25 / 0.38}, {1, 0.09 / 0.38}, {2, 0.04 / 0.38}});
  const double sum = std::sqrt(0.5) + std::sqrt(0.3) + std::sqrt(0.2);
  expect_shares(shares({.temperature = 2}, logits),
                {{0, std::sqrt(0.5) / sum}, {1, std::sqrt(0.3) / sum}, {2, std::sqrt(0.2) / sum}});
}

TEST(Sampler, TopKKeepsTheLikeliestAndOfEqualOnesTheFirst) {
  expect_shares(shares({.temperature = 1, .top_k = 2}, logits_of({0.2, 0.5, 0.3})),
                {{1, 0.625}, {2, 0.375}});
  expect_shares(shares({.temperature = 1, .top_k = 2}, logits_of({0.2, 0.2, 0.2, 0.4})),
                {{0, 1.0 / 3}, {3, 2.0 / 3}});
  expect_shares(shares({.temperature = 1, .top_k = 9}, logits_of({0.5, 0.5})),
                {{0, 0.5}, {1, 0.5}});
}

TEST(Sampler, TopPKeepsTheFewestThatReachIt) {
  const Logits logits = logits_of({0.15, 0.5, 0.3, 0.05});
  expect_shares(shares({.temperature = 1, .top_p = 0.7}, logits), {{1, 0.625}, {2, 0.375}});
  expect_shares(shares({.temperature = 1, .top_p = 0.4}, logits), {{1, 1}});
  expect_shares(shares({.temperature = 1, .top_p = 0}, logits), {{1, 1}});
  // Of what top-k left: 0.5 of 0.8 is 0.625.
  expect_shares(shares({.temperature = 1, .top_k = 2, .top_p = 0.62}, logits), {{1, 1}});
  expect_shares(shares({.temperature = 1, .top_k = 2, .top_p = 0.63}, logits),
                {{1, 0.625}, {2, 0.375}});
}

TEST(Sampler, MinPKeepsThoseNearTheLikeliest) {
  const Logits logits = logits_of({0.5, 0.26, 0.24});
  expect_shares(shares({.temperature = 1, .min_p = 0.5}, logits),
                {{0, 0.5 / 0.76}, {1, 0.26 / 0.76}});
  expect_shares(shares({.temperature = 1, .min_p = 1}, logits), {{0, 1}});
}

TEST(Sampler, ThePenaltyIsForTokensSeenEachOnce) {
  Sampler sampler({.repeat_penalty = 2});
  const std::vector<TokenId> seen = {0, 0, 2};
  sampler.see(seen);
  // 0: 5 / 2; 2: −1 · 2.
  EXPECT_EQ(sampler.next(Logits{5, 2, -1}), 0);
  EXPECT_EQ(sampler.next(Logits{5, 3, -1}), 1);
  // Now 1 is seen too.
  EXPECT_EQ(sampler.next(Logits{5, 3, -1}), 0);
  EXPECT_EQ(sampler.next(Logits{-9, -2, -3}), 1);
  // Without one, what was seen doesn't matter.
  Sampler plain({});
  plain.see(seen);
  EXPECT_EQ(plain.next(Logits{5, 3, -1}), 0);
}

TEST(Sampler, ASeedIsASequence) {
  const Logits flat(1000, 0.f);
  const auto draw = [&](uint64_t seed) {
    Sampler sampler({.temperature = 1, .seed = seed});
    std::vector<TokenId> ids;
    for (int i = 0; i < 8; ++i) ids.push_back(sampler.next(flat));
    return ids;
  };
  EXPECT_EQ(draw(7), draw(7));
  EXPECT_NE(draw(7), draw(8));
  // The same on every machine: SplitMix64 from 1234567, the top bits times a thousand.
  EXPECT_EQ(draw(1234567), (std::vector<TokenId>{350, 173, 532, 249, 889, 423, 590, 275}));
}

TEST(Sampler, WhatCannotBeIsNamed) {
  const auto error = [](const SamplingOptions& options) -> std::string {
    try {
      Sampler{options};
    } catch (const UserError& found) {
      return found.what();
    }
    return "(no error)";
  };
  EXPECT_THAT(error({.temperature = -1}), HasSubstr("the temperature is -1"));
  EXPECT_THAT(error({.temperature = std::nan("")}), HasSubstr("the temperature is nan"));
  EXPECT_THAT(error({.top_k = -1}), HasSubstr("top-k is -1"));
  EXPECT_THAT(error({.top_p = 1.5}), HasSubstr("top-p is 1.5"));
  EXPECT_THAT(error({.min_p = -0.1}), HasSubstr("min-p is -0.1"));
  EXPECT_THAT(error({.repeat_penalty = 0}), HasSubstr("penalty is 0"));
}

}  // namespace
}  // namespace luminal::llm
