#include "luminal/nn/rope.h"

#include <gtest/gtest.h>

#include <vector>

namespace luminal::nn {
namespace {

// From transformers 5.22.2 for heads of 16 and a base of 10,000.
void expect_frequencies(const RopeScaling& scaling, const std::vector<double>& expected) {
  const std::vector<float> found = rope_frequencies(16, 10000, scaling);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-6 * expected[i]) << i;
  }
}

TEST(Rope, LinearScalingDividesAll) {
  expect_frequencies(
      {.kind = RopeKind::Linear, .factor = 4},
      {0.25, 0.07905694, 0.025, 0.007905695, 0.0025, 0.0007905695, 0.00025, 7.905695e-05});
}

TEST(Rope, Llama3KeepsTheFastAndDividesTheSlow) {
  const RopeScaling scaling{.kind = RopeKind::Llama3, .factor = 8, .original_context = 64};
  expect_frequencies(scaling, {1.0, 0.2443846, 0.01304226, 0.003952847, 0.00125, 0.0003952847,
                               0.000125, 3.952847e-05});
  EXPECT_EQ(rope_magnitude(scaling), 1);
}

TEST(Rope, YarnBlendsAndScales) {
  RopeScaling scaling{.kind = RopeKind::Yarn, .factor = 4, .original_context = 64};
  expect_frequencies(
      scaling, {1.0, 0.2371708, 0.05, 0.007905695, 0.0025, 0.0007905695, 0.00025, 7.905695e-05});
  EXPECT_NEAR(rope_magnitude(scaling), 1.138629436111989, 1e-12);
  scaling.attention_factor = 1.25;
  scaling.beta_fast = 16;
  scaling.beta_slow = 2;
  expect_frequencies(
      scaling, {1.0, 0.1976424, 0.025, 0.007905695, 0.0025, 0.0007905695, 0.00025, 7.905695e-05});
  EXPECT_EQ(rope_magnitude(scaling), 1.25);
}

}  // namespace
}  // namespace luminal::nn
