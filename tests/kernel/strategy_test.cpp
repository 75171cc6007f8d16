#include "luminal/kernel/plan/strategy.h"

#include <gtest/gtest.h>

#include "luminal/luminal.h"
#include "tests/backends/cpu/kernel_builder.h"
#include "tests/search/planned.h"

namespace luminal::kernel {
namespace {

using backends::cpu::KernelBuilder;

// out[c, w] = Σ_k weight[c, k] · x[c, w + k]: a depthwise convolution along rows, whose left factor
// has one row. `along` is the dim of x that holds w: its last one, or the one before.
Kernel depthwise(int64_t taps, bool along_rows) {
  constexpr int64_t kChannels = 6, kWidth = 40;
  KernelBuilder b;
  const Expr c = b.outer(kChannels), w = b.outer(kWidth);
  const Expr k = b.inner(taps);
  const Expr at = w + k;
  const ParamId weight = b.param(DType::F32, {kChannels, taps});
  const ParamId x = along_rows ? b.param(DType::F32, {kChannels, kWidth + taps - 1})
                               : b.param(DType::F32, {kWidth + taps - 1, kChannels});
  auto stage = b.stage(DType::F32, {}, Reduction{Reducer::Sum, b.last_loop()});
  const InstId left = stage.load(b.k, weight, {c, k});
  const InstId right =
      stage.load(b.k, x, along_rows ? std::vector<Expr>{c, at} : std::vector<Expr>{at, c});
  stage.op(Op::Mul, DType::F32, {left, right});
  b.output(b.param(DType::F32, {kChannels, kWidth}, true), {c, w});
  return b.done();
}

TEST(Strategy, FewProductsOfAnElementGoByLoopsWhereTheyLieInARow) {
  EXPECT_EQ(default_strategy(depthwise(9, true)), Strategy::Loops);
  EXPECT_EQ(default_strategy(depthwise(49, true)), Strategy::Loops);
  EXPECT_EQ(default_strategy(depthwise(100, true)), Strategy::Matmul);
  EXPECT_EQ(default_strategy(depthwise(9, false)), Strategy::Matmul)
      << "a vector would be gathered";
}

// No panels are made of windows that micro kernels read from one copy of the image.
TEST(Strategy, DepthwiseConvolutionsOfImagesAreGemms) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    for (int64_t size : {3, 5, 7}) {
      Graph graph;
      const Tensor x = graph.input("x", {Expr::var("n", 1, 8), 16, 28, 28}, dtype);
      const Tensor w = graph.weight("w", {16, 1, size, size}, dtype);
      conv2d(x, w, std::nullopt, {.stride = 2, .padding = size / 2, .groups = 16}).output("y");
      const search::FoundPlan found = search::plan(graph);
      ASSERT_EQ(found.plan.n_kernels(), 1);
      EXPECT_EQ(std::get<KernelStep>(found.plan.steps.back()).strategy, Strategy::Matmul);
    }
  }
}

TEST(Strategy, WhatIsNoWindowIsAGemm) {
  KernelBuilder b;
  const Expr row = b.outer(4), column = b.outer(40);
  const Expr k = b.inner(9);
  const ParamId x = b.param(DType::F32, {4, 9}), w = b.param(DType::F32, {9, 40});
  auto stage = b.stage(DType::F32, {}, Reduction{Reducer::Sum, b.last_loop()});
  const InstId left = stage.load(b.k, x, {row, k}), right = stage.load(b.k, w, {k, column});
  stage.op(Op::Mul, DType::F32, {left, right});
  b.output(b.param(DType::F32, {4, 40}, true), {row, column});
  EXPECT_EQ(default_strategy(b.done()), Strategy::Matmul);
}

TEST(Strategy, TheOthersAreAllowedToo) {
  EXPECT_TRUE(allows(depthwise(9, true), Strategy::Matmul));
  EXPECT_TRUE(allows(depthwise(9, false), Strategy::Loops));
  EXPECT_FALSE(allows(depthwise(9, true), Strategy::SplitAttention));
}

}  // namespace
}  // namespace luminal::kernel
