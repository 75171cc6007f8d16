#include "luminal/search/cuts/fixed_cuts.h"

#include <gtest/gtest.h>

#include "luminal/graph/primitives.h"
#include "luminal/luminal.h"
#include "tests/search/planned.h"

namespace luminal::search {
namespace {

// The kernels of a graph by fixed rules.
int fixed_kernels(const Graph& graph) { return plan(graph, FusionPolicy::Fixed).plan.n_kernels(); }

TEST(FixedCuts, AProductTakesWhatFollowsItUpToTheNextProduct) {
  Graph graph;
  Tensor x = graph.input("x", {Expr::var("s", 1, 512), 64});
  Tensor h = gelu(matmul(x, graph.weight("a", {64, 256})) + graph.weight("b", {256}));
  (x + matmul(h, graph.weight("c", {256, 64}))).output("y");
  EXPECT_EQ(fixed_kernels(graph), 2);
}

TEST(FixedCuts, WhatSeveralKernelsReadIsStored) {
  Graph graph;
  Tensor h = relu(matmul(graph.input("x", {32, 64}), graph.weight("a", {64, 256})));
  matmul(h, graph.weight("b", {256, 64})).output("y");
  matmul(h, graph.weight("c", {256, 64})).output("z");
  EXPECT_EQ(fixed_kernels(graph), 3);
}

TEST(FixedCuts, PaddingBelongsToItsReader) {
  Graph graph;
  Tensor x = graph.input("x", {1, 8, 12, 12});
  Tensor h = relu(conv2d(x, graph.weight("a", {16, 8, 3, 3}), std::nullopt, {.padding = 1}));
  relu(conv2d(h, graph.weight("b", {8, 16, 3, 3}), std::nullopt, {.padding = 1})).output("y");
  EXPECT_EQ(fixed_kernels(graph), 2);
}

// Of the softmax: the maximum, the exponentials, the reciprocal of their sum, and the result.
TEST(FixedCuts, EachReductionOfASoftmaxEndsAKernel) {
  Graph graph;
  softmax(graph.input("x", {4, 1024}), -1).output("y");
  EXPECT_EQ(fixed_kernels(graph), 4);
}

TEST(FixedCuts, ElementwiseGraphsAreOneKernel) {
  for (DType dtype : {DType::F32, DType::BF16, DType::I32, DType::Bool}) {
    Graph graph;
    Tensor x = graph.input("x", {4, 8}, dtype);
    prim::select(prim::equal(x, x.flip({0})), x, x.flip({1})).output("y");
    EXPECT_EQ(fixed_kernels(graph), 1) << name(dtype);
  }
}

TEST(FixedCuts, AGraphOfThousandsOfOpsIsNotTooDeep) {
  Graph graph;
  Tensor x = graph.input("x", {64});
  for (int i = 0; i < 4000; ++i) x = sin(x) + 1.0F;
  x.output("y");
  EXPECT_GT(fixed_kernels(graph), 1);  // long chains are split in any plan
}

}  // namespace
}  // namespace luminal::search
