// Graphs of the size that later work carries: they build, verify and print in moments. The claims
// `foundation.llama-build` and `foundation.large-graph` read the times that this test prints.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "luminal/luminal.h"

namespace luminal {
namespace {

class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Llama-3-8B: 32 layers, width 4096, 32 query and 8 kv heads, ffn 14336, vocabulary 128256.
void build_llama_8b(Graph& graph) {
  constexpr int kLayers = 32, kHeads = 32, kKvHeads = 8, kHead = 128, kWidth = 4096, kFfn = 14336;
  Expr s = Expr::var("s", 1, 8192);
  Tensor ids = graph.input("ids", {1, s}, DType::I64);
  Tensor x = embedding(graph.weight("embed_tokens.weight", {128256, kWidth}), ids);
  auto project = [&](const nn::Scope& scope, const char* name, const Tensor& in, int64_t out) {
    return nn::linear(scope.child(name), in, out, {.bias = false});
  };
  const RotaryOptions rotary = {.theta = 500000};
  for (int layer = 0; layer < kLayers; ++layer) {
    nn::Scope scope = nn::Scope(graph, "layers").child(layer);
    Tensor h = nn::rms_norm(scope.child("input_layernorm"), x, {.eps = 1e-5});
    auto heads = [&](const char* name, int count) {
      return project(scope.child("self_attn"), name, h, count * kHead)
          .reshape({1, s, count, kHead})
          .transpose(1, 2);
    };
    Tensor q = rotary_embedding(heads("q_proj", kHeads), rotary);
    Tensor k = rotary_embedding(heads("k_proj", kKvHeads), rotary);
    Tensor a = scaled_dot_product_attention(q, k, heads("v_proj", kKvHeads), {.causal = true});
    x += project(scope.child("self_attn"), "o_proj",
                 a.transpose(1, 2).reshape({1, s, kHeads * kHead}), kWidth);
    h = nn::rms_norm(scope.child("post_attention_layernorm"), x, {.eps = 1e-5});
    nn::Scope mlp = scope.child("mlp");
    x += project(mlp, "down_proj",
                 silu(project(mlp, "gate_proj", h, kFfn)) * project(mlp, "up_proj", h, kFfn),
                 kWidth);
  }
  x = nn::rms_norm(nn::Scope(graph, "norm"), x, {.eps = 1e-5});
  nn::linear(nn::Scope(graph, "lm_head"), x, 128256, {.bias = false}).output("logits");
}

TEST(LargeGraph, BuildsLlama8B) {
  double best = 1e9;
  size_t nodes = 0;
  for (int round = 0; round < 5; ++round) {
    Graph graph;
    Stopwatch watch;
    build_llama_8b(graph);
    best = std::min(best, watch.milliseconds());
    nodes = graph.size();
    if (round == 0) verify(graph);
  }
  std::printf("llama_8b_build_ms %.2f nodes %zu\n", best, nodes);
  EXPECT_GT(nodes, 2000u);
  EXPECT_LT(best, 2000);  // the claim has the real bound; this one only catches a disaster
}

TEST(LargeGraph, AHundredThousandNodesBuildVerifyAndPrint) {
  Graph graph;
  Stopwatch watch;
  Expr s = Expr::var("s", 1, 4096);
  Tensor x = graph.input("x", {s, 64});
  Tensor w = graph.weight("w", {64, 64});
  while (graph.size() < 100000) {
    Tensor y = gelu(matmul(x, w)) + x;
    x = layer_norm(y, {64}).reshape({s, 8, 8}).transpose(1, 2).reshape({s, 64});
  }
  x.output("y");
  const double built = watch.milliseconds();
  verify(graph);
  const double verified = watch.milliseconds();
  const std::string text = print_graph(graph);
  const double printed = watch.milliseconds();
  std::printf("large_graph_ms %.1f nodes %zu (build %.1f, verify %.1f, print %.1f)\n", printed,
              graph.size(), built, verified - built, printed - verified);
  EXPECT_EQ(parse_graph(text)->size(), graph.size());
  std::printf("large_graph_parse_ms %.1f\n", watch.milliseconds() - printed);
  EXPECT_LT(printed, 60000);
}

}  // namespace
}  // namespace luminal
