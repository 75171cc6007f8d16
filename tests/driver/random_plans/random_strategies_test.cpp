// Random plans with random strategies and schedules, by all rules: terms, cuts, and how each kernel
// runs are taken at random, and the results are those of the interpreter. With an argument, so many
// plans of each model.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "luminal/llm/models/bert/bert.h"
#include "tests/driver/random_plans/random_plans.h"
#include "tests/search/llama_blocks.h"

namespace luminal {
namespace {

int plans_of_each = 3;

struct SmallModel {
  const char* name;
  void (*build)(Graph& graph);  // its output is "y"
  double tolerance;             // relative to the largest result
};

void bert_layer(Graph& graph) {
  const Tensor ids = graph.input("ids", {12}, DType::I32);
  llm::build_bert(
      nn::Scope(graph), ids,
      {.vocab_size = 40, .positions = 16, .features = 32, .hidden = 64, .layers = 1, .heads = 2})
      .output("y");
}

void llama_block(Graph& graph) {
  const Tensor x = graph.input("x", {1, 10, 64});
  search::llama_block(nn::Scope(graph), x, 4, 2, 96).output("y");
}

// Wide enough for Winograd's method, which approximate rules admit.
void convolutions(Graph& graph) {
  Tensor x = graph.input("x", {1, 16, 12, 12});
  for (int layer = 0; layer < 2; ++layer) {
    const auto weight = [&](const char* name, Dims dims) {
      return graph.weight(name + std::to_string(layer), std::move(dims));
    };
    const Tensor inner = conv2d(x, weight("filter", {16, 16, 3, 3}), std::nullopt, {.padding = 1});
    const Tensor deviation = weight("deviation", {16});
    x = relu(batch_norm(inner, weight("mean", {16}), deviation * deviation, weight("gain", {16}),
                        weight("shift", {16}))) +
        x;
  }
  x.output("y");
}

// Keys and values of each head are products of a latent, as the definition says; then attention
// without a softmax.
void latent_attention(Graph& graph) {
  constexpr int64_t kHeads = 4, kWidth = 16, kLatent = 24, kTokens = 48;
  const Tensor latent = graph.input("latent", {kTokens, kLatent});
  const auto heads = [&](const Tensor& x) {
    return x.reshape({x.dim(0), kHeads, kWidth}).transpose(0, 1);
  };
  const auto project = [&](const char* name, const Tensor& x) {
    return heads(matmul(x, graph.weight(name, {kLatent, kHeads * kWidth})));
  };
  const Tensor q = project("q", latent.narrow(0, 0, 3));
  const Tensor k = project("k", latent), v = project("v", latent);
  const Tensor scores = matmul(q, k.transpose(1, 2)) * 0.25F;
  const Tensor linear = matmul(matmul(q, k.transpose(1, 2)), v) * 0.01F;
  (matmul(softmax(scores, -1), v) + linear).output("y");
}

constexpr SmallModel kModels[] = {{"bert layer", bert_layer, 1e-4},
                                  {"llama block", llama_block, 1e-4},
                                  {"convolutions", convolutions, 1e-2},
                                  {"latent attention", latent_attention, 1e-4}};

std::vector<double> interpreted(Graph& graph, const std::vector<runtime::Buffer>& values) {
  Executable executable = compile(graph, {.backend = {.name = "interp"}});
  const std::vector<NodeId> leaves = graph.leaves();
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Node& node = graph.node(leaves[i]);
    std::vector<int64_t> dims;
    for (Expr dim : node.dims) dims.push_back(*dim.to_int());
    executable.set(graph.tensor(leaves[i]), TensorData{.dtype = node.dtype,
                                                       .dims = dims,
                                                       .bytes = values[i].bytes(),
                                                       .owner = values[i].owner()});
  }
  executable.run();
  return executable.get_data(*graph.find("y")).to_doubles();
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected,
                 double tolerance) {
  double largest = 0;
  for (double value : expected) largest = std::max(largest, std::abs(value));
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], tolerance * largest) << "element " << i;
  }
}

class RandomStrategies : public testing::TestWithParam<SmallModel> {};

TEST_P(RandomStrategies, AgreeWithTheInterpreter) {
  const SmallModel& model = GetParam();
  auto graph = std::make_shared<Graph>();
  model.build(*graph);
  const auto leaves = leaf_values(*graph, {}, *graph, graph->leaves(), 1);
  const std::vector<double> expected = interpreted(*graph, leaves);
  int changed = 0;
  for (int i = 0; i < plans_of_each; ++i) {
    const RandomPlans plans{.seed = static_cast<uint64_t>(i) + 1,
                            .numerics = Numerics::Approximate,
                            .strategies = true,
                            .changed = &changed};
    SCOPED_TRACE("seed " + std::to_string(plans.seed));
    expect_near(run_random_plan(graph, leaves, {}, plans), expected, model.tolerance);
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(changed, plans_of_each);
  std::printf("%s: %d plans, %d changed steps\n", model.name, plans_of_each, changed);
  std::fflush(stdout);
}

INSTANTIATE_TEST_SUITE_P(Models, RandomStrategies, testing::ValuesIn(kModels),
                         [](const auto& tested) {
                           std::string name = tested.param.name;
                           std::ranges::replace(name, ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) luminal::plans_of_each = std::atoi(argv[1]);
  return RUN_ALL_TESTS();
}
