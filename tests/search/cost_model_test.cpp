// What the model must know for products to stay where they are fast.
#include "luminal/search/cost/cost_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/graph/primitives.h"
#include "luminal/luminal.h"
#include "tests/search/planned.h"

namespace luminal::search {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> costed_kernels(const Graph& graph) {
  std::vector<std::string> texts;
  for (const auto& step : plan(graph).plan.steps) {
    texts.push_back(kernel::text(std::get<kernel::KernelStep>(step).lowered.kernel));
  }
  return texts;
}

// Elements 2i and 2i + 1 change places: as columns of a product they would be vectors of two.
TEST(CostModel, ARotationOfPairsIsNotPartOfItsProduct) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    Graph graph;
    const Tensor x = graph.input("x", {1, 576}, dtype);
    const Tensor heads =
        matmul(x, graph.weight("w", {576, 576}, dtype)).split_dims(1, {9, 64}).permute({1, 0, 2});
    rotary_embedding(heads,
                     {.pairs = RotaryPairs::Interleaved, .offset = Expr::var("past", 0, 4095)})
        .output("y");
    for (const std::string& kernel : costed_kernels(graph)) {
      if (kernel.find("sum over") == std::string::npos) continue;
      EXPECT_THAT(kernel, Not(HasSubstr("sin")));
    }
  }
}

// One token's value goes into a cache: the kernel that updates rows would read weights across.
TEST(CostModel, AProductIsNotPartOfAnUpdateOfRows) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    Graph graph;
    const Tensor x = graph.input("x", {1, 576}, dtype);
    const Tensor value = matmul(x, graph.weight("w", {192, 576}, dtype).t());
    const Tensor cache = graph.state("cache", {4096, 192}, dtype);
    const Tensor row = prim::iota(graph, Expr::var("past", 0, 4095), {1}, DType::I32);
    graph.update(cache, index_put(cache, row, value));
    int updates = 0;
    for (const std::string& kernel : costed_kernels(graph)) {
      if (kernel.find("4096") == std::string::npos) continue;
      ++updates;
      EXPECT_THAT(kernel, Not(HasSubstr("sum over")));
    }
    EXPECT_EQ(updates, 1);
  }
}

// Of a long cache a mask leaves little. That spares attention most of its keys, but nothing of a
// product that it would compute on the way.
TEST(CostModel, QueriesAreNotPartOfAttentionOverALongCache) {
  const Expr s = Expr::var("s", 2, 256);
  Graph graph;
  const Tensor x = graph.input("x", {s, 576});
  const Tensor q =
      matmul(x, graph.weight("w", {576, 576})).split_dims(1, {9, 64}).permute({1, 0, 2});
  const Tensor k = graph.input("k", {3, 4096, 64}), v = graph.input("v", {3, 4096, 64});
  scaled_dot_product_attention(q, k, v, {.causal = true, .past = Expr::var("past", 0, 4000)})
      .output("y");
  int attentions = 0;
  for (const std::string& kernel : costed_kernels(graph)) {
    if (kernel.find("exp2") == std::string::npos) continue;
    ++attentions;
    EXPECT_THAT(kernel, Not(HasSubstr("[576, 576]")));
  }
  EXPECT_EQ(attentions, 1);
}

}  // namespace
}  // namespace luminal::search
