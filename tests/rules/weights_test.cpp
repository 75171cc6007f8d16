// What depends on weights alone moves into them: computed once, when they are set, with the same
// results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "luminal/luminal.h"
#include "luminal/search/maps/view_behind.h"

namespace luminal {
namespace {

struct WeightsOutcome {
  double flops = 0;  // of each run, by the model
  int launches = 0;  // kernels of each run
  int once = 0;      // kernels that run once
  std::vector<float> result;
};

using BuildWeights = Tensor (*)(Graph& graph);

WeightsOutcome run_weights(BuildWeights build, const std::vector<std::string>& off,
                           const char* backend = "cpu") {
  Graph graph;
  const Tensor y = build(graph).output("y");
  CompileReport report;
  CompileOptions options{.backend = {.name = backend},
                         .plan = {.numerics = Numerics::Finite, .disable_rules = off}};
  options.search.mode = SearchMode::Modelled;
  options.storage.cache_folder = "none";
  options.report = &report;
  Executable executable = compile(graph, options);
  float next = 1;
  for (NodeId id : graph.leaves()) {
    std::vector<float> data(static_cast<size_t>(*n_elements(graph.node(id).dims).to_int()));
    for (float& value : data) value = 0.3F + std::sin(next += 1.7F) / 4;
    executable.set(graph.tensor(id), data);
  }
  executable.run();
  WeightsOutcome outcome;
  for (const KernelReport& kernel : report.kernels) {
    if (kernel.packs) continue;
    const bool once = kernel.launch < 0;
    if (!once) outcome.flops += kernel.model_flops;
    ++(once ? outcome.once : outcome.launches);
  }
  outcome.result = executable.get<float>(y);
  return outcome;
}

// With the rules a run computes at most 1 / `gain` of the flops without them.
void expect_folded(const char* what, BuildWeights build, double gain) {
  const WeightsOutcome with = run_weights(build, {}), without = run_weights(build, {"weights"});
  std::printf("%-28s %.4g of %.4g kF in %d of %d kernels a run, %d once\n", what, with.flops / 1e3,
              without.flops / 1e3, with.launches, without.launches, with.once);
  EXPECT_LT(with.flops * gain, without.flops) << what;
  EXPECT_LE(with.launches, without.launches) << what;
  EXPECT_GT(with.once, 0) << what;
  const std::vector<float> expected = run_weights(build, {}, "interp").result;
  ASSERT_EQ(with.result.size(), expected.size());
  double largest = 0;
  for (float value : expected) largest = std::max<double>(largest, std::abs(value));
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(with.result[i], expected[i], 1e-4 * largest) << what << ", element " << i;
  }
}

TEST(Weights, TakeTheScaleOfABatchNorm) {
  expect_folded(
      "batch norm",
      [](Graph& graph) {
        const nn::Scope scope(graph);
        const Tensor x = graph.input("x", {1, 16, 28, 28});
        const Tensor y = conv2d(x, graph.weight("w", {32, 16, 1, 1}));
        return relu(nn::batch_norm(scope.child("norm"), y, {}));
      },
      1.01);
}

TEST(Weights, TakeTheGainOfANorm) {
  expect_folded(
      "gain",
      [](Graph& graph) {
        const Tensor x = graph.input("x", {512, 2048});
        const Tensor y = rms_norm(x, {2048}, graph.weight("gain", {2048}));
        return matmul(y, graph.weight("w", {2048, 32}));
      },
      1.001);
}

TEST(Weights, TakeALowRankUpdate) {
  expect_folded(
      "LoRA",
      [](Graph& graph) {
        const Tensor x = graph.input("x", {64, 256});
        const Tensor w = graph.weight("w", {256, 256});
        const Tensor a = graph.weight("a", {256, 8}), b = graph.weight("b", {8, 256});
        return matmul(x, w) + matmul(matmul(x, a), b) * 0.5F;
      },
      1.05);
}

TEST(Weights, FollowEachOther) {
  expect_folded(
      "two linear layers",
      [](Graph& graph) {
        const Tensor x = graph.input("x", {64, 128});
        const Tensor a = graph.weight("a", {128, 128}), b = graph.weight("b", {128, 128});
        return matmul(matmul(x, a), b);
      },
      1.9);
}

TEST(Weights, AreMultipliedWithATableOnce) {
  expect_folded(
      "embedding, projected",
      [](Graph& graph) {
        const Tensor ids = (graph.input("position", {200}) * 90.0F).cast(DType::I64);
        const Tensor rows = embedding(graph.weight("table", {90, 64}), ids);
        return matmul(rows, graph.weight("w", {64, 64}));
      },
      1.9);
}

// A view behind another exists where the front's source has the indices that the whole one reads.
TEST(Weights, AViewBehindAnother) {
  const Expr s = Expr::var("s", 1, 64);
  const Dims body = {s, 5, 7};
  const auto at = [&](int axis) { return Expr::index(axis, body[static_cast<size_t>(axis)]); };
  const IndexMap front(body, {7, 5}, {at(2), at(1)});
  const auto of = [&](const IndexMap& whole) { return search::view_behind(front, whole); };
  const auto scale = of(IndexMap({s, 5}, {5}, {at(1)}));
  ASSERT_TRUE(scale);
  EXPECT_TRUE(IndexMap::compose(front, *scale).exprs()[0] == at(1));
  EXPECT_TRUE(of(IndexMap(body, {7}, {at(2)})));
  EXPECT_TRUE(of(IndexMap(body, {}, {})));
  EXPECT_FALSE(of(IndexMap(body, {s}, {at(0)})));                // the weights don't depend on s
  EXPECT_FALSE(of(IndexMap({5, 7}, {7}, {Expr::index(1, 7)})));  // another body
}

}  // namespace
}  // namespace luminal
