// Sums in another order: products of three and more factors take the cheaper one, whatever they are
// written as, and have the same results.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "luminal/luminal.h"

namespace luminal {
namespace {

struct SumOutcome {
  double flops = 0;     // of the plan
  double model_us = 0;  // of the plan
  int other_terms = 0;  // that kernels were chosen over
  std::vector<float> result;
};

using BuildSums = Tensor (*)(Graph& graph);

SumOutcome run_sums(BuildSums build, const std::vector<std::string>& off,
                    const char* backend = "cpu") {
  Graph graph;
  const Tensor y = build(graph).output("y");
  CompileReport report;
  CompileOptions options{.backend = {.name = backend},
                         .plan = {.numerics = Numerics::Finite, .disable_rules = off}};
  options.storage.cache_folder = "none";
  options.inspect.find_rivals = true;
  options.report = &report;
  Executable executable = compile(graph, options);
  float next = 1;
  for (uint32_t id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(NodeId{id});
    if (node.op != Op::Input) continue;
    std::vector<float> data(static_cast<size_t>(*n_elements(node.dims).to_int()));
    for (float& value : data) value = std::sin(next += 1.7F) / 4;
    executable.set(graph.tensor(NodeId{id}), data);
  }
  executable.run();
  SumOutcome outcome;
  outcome.model_us = report.model_us;
  for (const KernelReport& kernel : report.kernels) {
    outcome.flops += kernel.model_flops;
    for (const RivalReport& rival : kernel.rivals) outcome.other_terms += !rival.other.empty();
  }
  outcome.result = executable.get<float>(y);
  return outcome;
}

// `gain` is how many times fewer flops the cheaper order has, at least.
void expect_cheaper(const char* what, BuildSums build, double gain) {
  const SumOutcome with = run_sums(build, {}), without = run_sums(build, {"sums"});
  std::printf("%-28s %.3g of %.3g MF, %.1f of %.1f µs by the model, %d other terms\n", what,
              with.flops / 1e6, without.flops / 1e6, with.model_us, without.model_us,
              with.other_terms);
  EXPECT_LT(with.flops * gain, without.flops) << what;
  EXPECT_LT(with.model_us, without.model_us) << what;
  EXPECT_GT(with.other_terms, 0) << what;
  const std::vector<float> expected = run_sums(build, {}, "interp").result;
  ASSERT_EQ(with.result.size(), expected.size());
  double largest = 0;
  for (float value : expected) largest = std::max<double>(largest, std::abs(value));
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(with.result[i], expected[i], 1e-4 * largest) << what << ", element " << i;
  }
}

TEST(Sums, AMatrixChainStartsAtTheVector) {
  expect_cheaper(
      "matrix chain",
      [](Graph& graph) {
        const Tensor a = graph.input("a", {128, 128}), b = graph.input("b", {128, 128});
        return matmul(matmul(a, b), graph.input("v", {128, 1}));
      },
      20);
  expect_cheaper(
      "matrix chain of four",
      [](Graph& graph) {
        const Tensor a = graph.input("a", {96, 96}), b = graph.input("b", {96, 96});
        const Tensor c = graph.input("c", {96, 96});
        return matmul(matmul(matmul(a, b), c), graph.input("v", {96}));
      },
      20);
  expect_cheaper(
      "matrix chain from the left",
      [](Graph& graph) {
        const Tensor a = graph.input("a", {128, 128}), b = graph.input("b", {128, 128});
        return matmul(graph.input("v", {1, 128}), matmul(a, b));
      },
      20);
}

TEST(Sums, ALowRankUpdateOfAnInputStaysOfLowRank) {
  expect_cheaper(
      "LoRA",
      [](Graph& graph) {
        const Tensor x = graph.input("x", {32, 256});
        const Tensor a = graph.input("a", {256, 4}), b = graph.input("b", {4, 256});
        return matmul(x, matmul(a, b));
      },
      8);
}

TEST(Sums, LinearAttentionIsLinear) {
  expect_cheaper(
      "linear attention",
      [](Graph& graph) {
        const Tensor q = graph.input("q", {2, 256, 16}), k = graph.input("k", {2, 256, 16});
        return matmul(matmul(q, k.transpose(1, 2)), graph.input("v", {2, 256, 16}));
      },
      6);
  expect_cheaper(
      "scaled linear attention",
      [](Graph& graph) {
        const Tensor q = graph.input("q", {2, 256, 16}), k = graph.input("k", {2, 256, 16});
        return matmul(matmul(q, k.transpose(1, 2)) * 0.25F, graph.input("v", {2, 256, 16}));
      },
      6);
}

// Keys and values of a head are products of the cached latent with weights. Written out as the
// definition says, every head's keys are computed for all tokens; absorbed, only the query is.
TEST(Sums, LatentAttentionDoesNotExpandItsKeys) {
  expect_cheaper(
      "MLA decode",
      [](Graph& graph) {
        constexpr int64_t kHeads = 8, kWidth = 32, kLatent = 64, kTokens = 256;
        const Tensor latent = graph.input("latent", {kTokens, kLatent});
        const Tensor q = graph.input("q", {kHeads, 1, kWidth});
        const Tensor up_k = graph.input("up_k", {kLatent, kHeads * kWidth});
        const Tensor up_v = graph.input("up_v", {kLatent, kHeads * kWidth});
        const auto heads = [&](const Tensor& x) {
          return x.reshape({kTokens, kHeads, kWidth}).transpose(0, 1);
        };
        const Tensor k = heads(matmul(latent, up_k)), v = heads(matmul(latent, up_v));
        const Tensor weights = softmax(matmul(q, k.transpose(1, 2)) * 0.2F, -1);
        return matmul(weights, v);
      },
      4);
}

TEST(Sums, AFactorLeavesItsSum) {
  expect_cheaper(
      "factor of a sum",
      [](Graph& graph) {
        const Tensor x = exp2(graph.input("x", {64, 512})), s = graph.input("s", {64, 1});
        return sum(x * s.expand({64, 512}), {1});
      },
      1.01);
}

}  // namespace
}  // namespace luminal
