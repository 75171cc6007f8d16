#include "luminal/search/cuts/find_plan.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "luminal/llm/models/bert/bert.h"
#include "luminal/luminal.h"
#include "tests/search/llama_blocks.h"
#include "tests/search/planned.h"

namespace luminal::search {
namespace {

// The shapes that must become one kernel each, over rows of `n` elements.
struct Pattern7 {
  const char* name;
  Tensor (*build)(Graph& graph, const Tensor& x);
};

Tensor scale(Graph& graph, const Tensor& x, const char* name) {
  return graph.weight(name, {x.dim(-1)}, x.dtype());
}

const Pattern7 kPatterns[] = {
    {"softmax", [](Graph&, const Tensor& x) { return softmax(x, -1); }},
    {"layer norm",
     [](Graph& g, const Tensor& x) {
       return layer_norm(x, {x.dim(-1)}, scale(g, x, "w"), scale(g, x, "b"));
     }},
    {"rms norm",
     [](Graph& g, const Tensor& x) { return rms_norm(x, {x.dim(-1)}, scale(g, x, "w"), 1e-5); }},
    {"gelu", [](Graph&, const Tensor& x) { return gelu(x); }},
    {"swiglu",
     [](Graph& g, const Tensor& x) { return silu(x) * g.input("up", x.dims(), x.dtype()); }},
    {"rotary", [](Graph&, const Tensor& x) { return rotary_embedding(x); }},
    {"add + rms norm",
     [](Graph& g, const Tensor& x) {
       return rms_norm(x + g.input("r", x.dims(), x.dtype()), {x.dim(-1)}, scale(g, x, "w"), 1e-5);
     }},
};

TEST(FindPlan, SevenPatternsAreOneKernelEach) {
  for (const Pattern7& pattern : kPatterns) {
    for (DType dtype : {DType::F32, DType::BF16}) {
      for (Expr rows : {Expr(1), Expr(17), Expr(4096), Expr::var("s", 1, 4096)}) {
        for (int64_t width : {2, 16, 4096}) {
          Graph graph;
          pattern.build(graph, graph.input("x", {rows, width}, dtype)).output("y");
          const FoundPlan found = plan(graph, FusionPolicy::Always);
          EXPECT_EQ(found.plan.n_kernels(), 1)
              << pattern.name << " " << name(dtype) << " [" << rows.text() << ", " << width << "]";
        }
      }
    }
  }
}

TEST(FindPlan, NeverStoresEveryOp) {
  Graph graph;
  Tensor x = graph.input("x", {4, 8});
  exp2(exp2(x) + x).output("y");
  EXPECT_EQ(plan(graph, FusionPolicy::Never).plan.n_kernels(), 3);
  EXPECT_EQ(plan(graph, FusionPolicy::Always).plan.n_kernels(), 1);
}

TEST(FindPlan, FindsTheOptimumOfItsModel) {
  auto check = [](const char* what, Graph& graph) {
    Planned planned = prepare(graph);
    const FoundPlan found = find_plan(planned.extracted.graph, planned.request, planned.options);
    const FoundPlan best =
        find_plan_by_force(planned.extracted.graph, planned.request, planned.options);
    EXPECT_LE(found.plan.model_seconds, best.plan.model_seconds * (1 + 1e-6))
        << what << ": " << found.report.live_bits << " bits";
    std::printf("%-16s %2d bits, %d kernels, %.2f µs, %d candidates\n", what,
                found.report.live_bits, found.plan.n_kernels(), found.plan.model_seconds * 1e6,
                found.report.candidates);
  };
  {
    Graph graph;
    softmax(graph.input("x", {1024, 1024}), -1).output("y");
    check("softmax", graph);
  }
  {
    Graph graph;
    Tensor x = graph.input("x", {512, 512});
    layer_norm(x, {512}, graph.weight("w", {512}), graph.weight("b", {512})).output("y");
    check("layer norm", graph);
  }
  {
    Graph graph;
    Tensor x = graph.input("x", {64, 256});
    Tensor gate = matmul(x, graph.weight("g", {256, 512}));
    Tensor up = matmul(x, graph.weight("u", {256, 512}));
    matmul(silu(gate) * up, graph.weight("d", {512, 256})).output("y");
    check("swiglu ffn", graph);
  }
  {
    Graph graph;
    Tensor q = graph.input("q", {2, 16, 8});
    Tensor k = graph.input("k", {2, 16, 8});
    Tensor w = softmax(matmul(q, k.transpose(1, 2)), -1);
    matmul(w, graph.input("v", {2, 16, 8})).output("y");
    check("attention", graph);
  }
}

TEST(FindPlan, IsTheSameEveryTime) {
  std::string first;
  for (int round = 0; round < 5; ++round) {
    Graph graph;
    Tensor x = graph.input("x", {Expr::var("s", 1, 512), 64});
    Tensor h = rms_norm(x, {64}, graph.weight("w", {64}), 1e-5);
    (x + matmul(gelu(matmul(h, graph.weight("a", {64, 256}))), graph.weight("b", {256, 64})))
        .output("y");
    const std::string text = text_of(plan(graph));
    if (round == 0) first = text;
    EXPECT_EQ(text, first);
  }
}

TEST(FindPlan, ManyStartsFindNothingBetterForALlamaBlock) {
  Graph graph;
  add_llama_blocks(graph, 1);
  Planned planned = prepare(graph);
  planned.options.thorough_up_to = 0;
  const FoundPlan found = find_plan(planned.extracted.graph, planned.request, planned.options);
  planned.options.thorough_up_to = 1000;
  planned.options.starts = 8;
  planned.options.seed = 99;
  const FoundPlan many = find_plan(planned.extracted.graph, planned.request, planned.options);
  std::printf(
      "llama block      %2d bits, %d kernels, %.2f µs; with many starts %d kernels, %.2f µs\n",
      found.report.live_bits, found.plan.n_kernels(), found.plan.model_seconds * 1e6,
      many.plan.n_kernels(), many.plan.model_seconds * 1e6);
  EXPECT_LE(found.plan.model_seconds, many.plan.model_seconds * 1.02);
}

// What larger graphs are planned by, on graphs that a thorough search has time for.
TEST(FindPlan, OneStartFindsWhatAThoroughSearchFinds) {
  auto check = [](const char* what, Graph& graph) {
    Planned planned = prepare(graph);
    planned.options.thorough_up_to = 0;
    const FoundPlan one = find_plan(planned.extracted.graph, planned.request, planned.options);
    planned.options.thorough_up_to = 1000;
    const FoundPlan thorough = find_plan(planned.extracted.graph, planned.request, planned.options);
    EXPECT_EQ(text_of(one), text_of(thorough)) << what;
    EXPECT_LT(one.report.candidates, thorough.report.candidates) << what;
  };
  for (int64_t queries : {1, 16, 128}) {
    Graph graph;
    Tensor q = graph.input("q", {12, queries, 64});
    Tensor k = graph.input("k", {12, 512, 64});
    Tensor w = softmax(matmul(q, k.transpose(1, 2)) * 0.125, -1);
    matmul(w, graph.input("v", {12, 512, 64})).output("y");
    check("attention", graph);
  }
  {
    Graph graph;
    Tensor x = graph.input("x", {32, 784});
    for (int i = 0; i < 4; ++i) x = relu(nn::linear(nn::Scope(graph).child(i), x, 512));
    x.output("y");
    check("mlp", graph);
  }
  {
    Graph graph;
    add_llama_blocks(graph, 1);
    check("llama block", graph);
  }
  {
    Graph graph;
    Tensor ids = graph.input("ids", {Expr::var("s", 1, 512)}, DType::I64);
    llm::build_bert(nn::Scope(graph), ids, {.features = 384, .hidden = 1536, .layers = 1})
        .output("y");
    check("bert layer", graph);
  }
}

TEST(FindPlan, AProductOfAConcatenationIsNotStored) {
  Graph graph;
  const nn::Scope scope(graph);
  const Tensor x = graph.input("x", {1, 128, 14, 14});
  std::vector<Tensor> pieces;
  for (int i = 0; i < 5; ++i) {
    pieces.push_back(avg_pool2d(x + static_cast<float>(i), 3, {.stride = 1, .padding = 1}) + x);
  }
  relu(nn::conv2d(scope, concat(pieces, 1), 256, 1)).output("y");
  Planned planned = prepare(graph);
  planned.options.thorough_up_to = 0;  // as in a large graph
  const FoundPlan one = find_plan(planned.extracted.graph, planned.request, planned.options);
  planned.options.thorough_up_to = 1000;
  const FoundPlan thorough = find_plan(planned.extracted.graph, planned.request, planned.options);
  EXPECT_LT(one.plan.model_seconds, 1.2 * thorough.plan.model_seconds);
}

TEST(Saturation, GrowsLinearlyWithLlamaBlocks) {
  uint64_t one = 0;
  uint64_t two = 0;
  for (int blocks : {1, 2, 4, 8, 12}) {
    Graph graph;
    add_llama_blocks(graph, blocks);
    const auto start = std::chrono::steady_clock::now();
    Planned planned = prepare(graph);
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    const egraph::RunReport& run = planned.saturation;
    std::printf(
        "llama_blocks %d nodes %llu classes %llu saturate_ms %.2f prepare_ms %.2f\n", blocks,
        static_cast<unsigned long long>(run.tuples), static_cast<unsigned long long>(run.classes),
        (run.search_seconds + run.apply_seconds + run.rebuild_seconds) * 1e3, taken.count());
    if (blocks == 1) one = run.tuples;
    if (blocks == 2) two = run.tuples;
    EXPECT_EQ(run.tuples, one + static_cast<uint64_t>(blocks - 1) * (two > 0 ? two - one : 0));
    EXPECT_EQ(run.stop, egraph::StopReason::Finished);
  }
}

// A cut per use: a result that is cheap to compute and large to read is stored, and its reader
// computes it again.
TEST(FindPlan, AReaderMayComputeAStoredValueAgain) {
  Graph graph;
  const Dims dims = {1024, 2048};
  const Tensor outer = graph.input("a", {1024, 1}).expand(dims) * graph.input("b", {2048});
  outer.output("stored");
  sum(outer * graph.input("y", dims), 1).output("read");
  Planned planned = prepare(graph);
  planned.options.sideways = false;
  const FoundPlan found = find_plan(planned.extracted.graph, planned.request, planned.options);
  planned.options.again = false;
  const FoundPlan reads = find_plan(planned.extracted.graph, planned.request, planned.options);
  EXPECT_EQ(found.choice.again.size(), 1u);
  EXPECT_EQ(reads.choice.again.size(), 0u);
  EXPECT_LT(found.plan.model_seconds, reads.plan.model_seconds * 0.9);
  std::printf("an outer product     %.1f µs computed again, %.1f µs read\n",
              found.plan.model_seconds * 1e6, reads.plan.model_seconds * 1e6);
}

}  // namespace
}  // namespace luminal::search
