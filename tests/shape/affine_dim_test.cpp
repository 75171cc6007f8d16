#include "luminal/shape/index/affine_dim.h"

#include <gtest/gtest.h>

namespace luminal {
namespace {

TEST(AffineDim, GivesTheValueOfItsVariable) {
  const Expr n = Expr::var("n", 1, 64);
  const auto one = affine_dim(n), scaled = affine_dim(4 * n + 3);
  ASSERT_TRUE(one && scaled);
  EXPECT_EQ(scaled->variable, n);
  EXPECT_EQ(one->solve(7), 7);
  EXPECT_EQ(scaled->solve(31), 7);
  EXPECT_EQ(scaled->solve(-1), -1);
  EXPECT_EQ(scaled->solve(30), std::nullopt);
  EXPECT_EQ(scaled->solve(INT64_MIN), std::nullopt);
}

TEST(AffineDim, OtherFormsGiveNone) {
  const Expr n = Expr::var("n", 1, 64), m = Expr::var("m", 1, 64);
  for (Expr dim : {Expr(3), n * m, n + m, n / 2, 8 - n, n * n}) {
    EXPECT_FALSE(affine_dim(dim)) << dim.text();
  }
}

}  // namespace
}  // namespace luminal
