// How many launches the blocks of well-known models take in each run, read off the plan. What is
// computed of weights alone, panels among it, runs once and isn't counted.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "luminal/backends/cpu/plan/run_plan.h"
#include "luminal/backends/registry/registry.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/graph/primitives.h"
#include "luminal/llm/models/llama/llama.h"
#include "luminal/luminal.h"
#include "tests/search/llama_blocks.h"

namespace luminal::backends::cpu {
namespace {

struct Launches {
  size_t count = 0;
  std::string text;  // a line for each
};

Launches launches_of(const Graph& graph, const Bindings& typical_sizes = {}) {
  std::shared_ptr<const Graph> snapshot = graph.clone();
  LoadRequest request{.graph = snapshot, .ports = {}, .options = {}, .planned = {}};
  request.ports.leaves = snapshot->leaves();
  for (const Output& output : snapshot->outputs()) request.ports.results.push_back(output.node);
  CompileReport report;
  request.planned =
      plan_graph(*snapshot, roots(*snapshot), {.plan = {.typical_sizes = typical_sizes}}, report,
                 find_backend("cpu").packing({}));
  const RunPlan plan = make_run_plan(request);
  Launches launches{.count = static_cast<size_t>(plan.n_launches) + plan.copies.size(), .text = {}};
  for (const RunStep& step : plan.run_steps) {
    if (!step.kernel.valid()) {
      launches.text += fmt::format("{} on the host\n", step.launch);
      continue;
    }
    const KernelReport& kernel = report.kernels[step.kernel.index()];
    launches.text += fmt::format("{} {} to {}: {}\n", step.launch, kernel.name, kernel.result,
                                 fmt::join(kernel.ops, ", "));
  }
  return launches;
}

// Of a Llama with a billion weights: 32 heads of 64, 8 of them for keys and values.
struct Block {
  DType dtype = DType::F32;
  Expr tokens = 1;
  bool cached = false;  // keys and values of p tokens lie in a cache, which takes the new ones too
};

// What attention sees of keys or values: those of the past and the new ones.
Tensor cached(Graph& graph, const char* name, const Tensor& fresh, Expr past) {
  const Expr tokens = fresh.dim(-2);
  const Tensor flat = fresh.squeeze(0).transpose(0, 1).merge_dims(1);
  Tensor cache = graph.state(name, {4096, flat.dim(1)}, fresh.dtype());
  const Tensor rows = prim::iota(graph, Expr::index(0, tokens) + past, {tokens}, DType::I32);
  const Tensor filled = index_put(cache, rows, flat);
  graph.update(cache, filled);
  return filled.split_dims(1, {fresh.dim(1), fresh.dim(3)}).transpose(0, 1).unsqueeze(0);
}

Tensor llama_block(Graph& graph, const Block& block) {
  const nn::Scope scope(graph, "", block.dtype);
  Tensor x = graph.input("x", {1, block.tokens, 2048}, block.dtype);
  if (!block.cached) return search::llama_block(scope, x, 32, 8, 8192);
  const Expr past = Expr::var("p", 0, 3072);
  auto project = [&](const char* name, const Tensor& in, int64_t out) {
    return nn::linear(scope.child(name), in, out, {.bias = false});
  };
  auto heads = [&](const char* name, const Tensor& in, int64_t n) {
    return project(name, in, n * 64).split_dims(-1, {n, 64}).transpose(-3, -2);
  };
  Tensor h = nn::rms_norm(scope.child("input_layernorm"), x, {.eps = 1e-5});
  const Tensor q = rotary_embedding(heads("q", h, 32), {.offset = past});
  const Tensor k = rotary_embedding(heads("k", h, 8), {.offset = past});
  const Tensor a = scaled_dot_product_attention(q, cached(graph, "keys", k, past),
                                                cached(graph, "values", heads("v", h, 8), past),
                                                {.causal = true, .past = past});
  const Tensor y = x + project("o", a.transpose(-3, -2).merge_dims(2), 2048);
  h = nn::rms_norm(scope.child("post_attention_layernorm"), y, {.eps = 1e-5});
  const Tensor gated = silu(project("gate", h, 8192)) * project("up", h, 8192);
  return y + project("down", gated, 2048);
}

TEST(Launches, ALlamaBlockTakesAtMostTen) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    for (bool with_cache : {false, true}) {
      for (int64_t tokens : {1, 16, 128}) {
        // As a variant for one token, or a few, or more has it.
        for (const Expr& s : {Expr(tokens), Expr::var("s", 1, 8 * tokens)}) {
          Graph graph;
          llama_block(graph, {.dtype = dtype, .tokens = s, .cached = with_cache}).output("y");
          const Launches launches = launches_of(graph, {{"s", tokens}, {"p", 512}});
          EXPECT_LE(launches.count, 10u) << name(dtype) << ", " << tokens << " tokens, " << s.text()
                                         << (with_cache ? ", a cache\n" : "\n") << launches.text;
        }
      }
    }
  }
}

// A layer of a rolled model is no dearer for its boundaries.
TEST(Launches, ALayerOfARolledLlamaTakesAtMostTen) {
  for (int64_t tokens : {1, 128}) {
    std::vector<size_t> counts;
    for (int64_t layers : {4, 6}) {
      Graph graph;
      llm::build_llama(nn::Scope(graph, "", DType::BF16), {.vocab_size = 32000,
                                                           .features = 2048,
                                                           .hidden = 8192,
                                                           .layers = layers,
                                                           .heads = 32,
                                                           .kv_heads = 8,
                                                           .head_size = 64,
                                                           .context = 4096});
      counts.push_back(launches_of(graph, {{"s", tokens}, {"past", 512}}).count);
    }
    EXPECT_LE(counts[1] - counts[0], 20u) << tokens << " tokens";
    EXPECT_LE(counts[0], 4 * 10 + 6u) << tokens << " tokens";
  }
}

// Products of one input need it alone.
TEST(Launches, ProductsOfOneInputTakeOne) {
  Graph graph;
  Tensor x = graph.input("x", {64, 256});
  for (const char* name : {"q", "k", "v"}) {
    matmul(x, graph.weight(name, {256, 512})).output(std::string(name) + "_out");
  }
  const Launches launches = launches_of(graph);
  EXPECT_EQ(launches.count, 1u) << launches.text;
}

// The first of ResNet-18.
TEST(Launches, AResNetBasicBlockTakesAtMostFour) {
  Graph graph;
  Tensor x = graph.input("x", {1, 64, 56, 56});
  const nn::Scope scope(graph);
  auto convolve = [&](const char* conv, const char* norm, const Tensor& in) {
    const Tensor y = nn::conv2d(scope.child(conv), in, 64, 3, {.padding = 1, .bias = false});
    return nn::batch_norm(scope.child(norm), y);
  };
  const Tensor h = relu(convolve("conv1", "bn1", x));
  relu(x + convolve("conv2", "bn2", h)).output("y");
  const Launches launches = launches_of(graph);
  EXPECT_LE(launches.count, 4u) << launches.text;
}

}  // namespace
}  // namespace luminal::backends::cpu
