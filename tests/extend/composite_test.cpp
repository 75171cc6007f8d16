// A composite from outside: a function of tensors, which every backend computes.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "luminal/luminal.h"

namespace luminal {
namespace {

// x / (1 + |x|), scaled by a weight of each column.
Tensor scaled_softsign(const Tensor& x, const Tensor& scale) { return x / (1 + abs(x)) * scale; }

class CompositeOn : public testing::TestWithParam<std::string> {};

TEST_P(CompositeOn, ComputesItsFormula) {
  Graph graph;
  const Expr s = Expr::var("s", 1, 64);
  const Tensor x = graph.input("x", {s, 3});
  const Tensor scale = graph.input("scale", {3});
  const Tensor y = scaled_softsign(x, scale).output("y");
  Executable exe =
      compile(graph, {.backend = {.name = GetParam()}, .storage = {.cache_folder = "none"}});
  const std::vector<float> values = {-4, -1, 0, 0.5, 1, 9};
  const std::vector<float> scales = {1, 2, -3};
  exe.set(x, values);
  exe.set(scale, scales);
  exe.run({{"s", 2}});
  const std::vector<float> found = exe.get<float>(y);
  ASSERT_EQ(found.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const float expected = values[i] / (1 + std::abs(values[i])) * scales[i % 3];
    EXPECT_NEAR(found[i], expected, 1e-6) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, CompositeOn, testing::Values("interp", "cpu"));

TEST(Composite, IsOneKernel) {
  Graph graph;
  const Tensor x = graph.input("x", {8, 3});
  scaled_softsign(x, graph.input("scale", {3})).output("y");
  CompileReport report;
  compile(graph, {.storage = {.cache_folder = "none"}, .report = &report});
  EXPECT_EQ(report.kernels.size(), 1u);
}

}  // namespace
}  // namespace luminal
