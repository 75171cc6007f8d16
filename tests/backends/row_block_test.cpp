// Attention as one kernel on the cpu, which computes blocks of rows at once: right at lengths
// around those blocks, with every kind of mask, run after run on the same executable.
#include <gtest/gtest.h>

#include <limits>

#include "tests/backends/against_interpreter.h"

namespace luminal {
namespace {

struct Attention {
  Expr queries = 1, keys = 1;
  int64_t heads = 2, kv_heads = 2;
  int64_t size = 16, value_size = 16;
  DType dtype = DType::F32;
  AttentionOptions options = {};
};

Tensor attention(Graph& graph, const Attention& a) {
  Tensor q = graph.input("q", {a.heads, a.queries, a.size}, a.dtype);
  Tensor k = graph.input("k", {a.kv_heads, a.keys, a.size}, a.dtype);
  Tensor v = graph.input("v", {a.kv_heads, a.keys, a.value_size}, a.dtype);
  return scaled_dot_product_attention(q, k, v, a.options).output("y");
}

void check_row_blocks(Graph& graph, const Tensor& y, const std::vector<Bindings>& runs = {{}}) {
  for (const char* target : {"", "avx2"}) {
    SCOPED_TRACE(target);
    Comparison comparison{.graph = graph, .results = {y}};
    comparison.options.plan.fusion = FusionPolicy::Always;
    comparison.options.backend.target = target;
    comparison.run(runs);
    EXPECT_EQ(comparison.report.kernels.size(), 1u);
  }
}

void check_row_blocks(const Attention& a, const std::vector<Bindings>& runs = {{}}) {
  SCOPED_TRACE(a.queries.text() + " queries, " + a.keys.text() + " keys, " +
               std::string(name(a.dtype)));
  Graph graph;
  check_row_blocks(graph, attention(graph, a), runs);
}

const std::vector<Bindings> kThreeLengths = {{{"s", 65}}, {{"s", 3}}, {{"s", 130}}};

TEST(RowBlocks, AreRightAtLengthsAroundTheirSize) {
  for (int64_t s : {1, 3, 17, 28, 64, 65, 130}) {
    check_row_blocks({.queries = s, .keys = s, .options = {.causal = true}});
  }
  for (int64_t s : {8, 29, 130}) check_row_blocks({.queries = s, .keys = s});
}

TEST(RowBlocks, AreRightInSixteenBits) {
  for (DType dtype : {DType::BF16, DType::F16}) {
    for (int64_t s : {9, 32, 65, 130}) {
      check_row_blocks({.queries = s, .keys = s, .dtype = dtype, .options = {.causal = true}});
    }
    check_row_blocks({.queries = 40, .keys = 77, .size = 33, .value_size = 17, .dtype = dtype});
  }
}

// Weights stay f32, and so does the result: products with bf16 must be as exact as those of f32.
TEST(RowBlocks, MultiplyWeightsByHalves) {
  for (int64_t s : {32, 65, 300}) {
    Graph graph;
    Tensor q = graph.input("q", {2, s, 16}), k = graph.input("k", {2, s, 16});
    Tensor v = graph.input("v", {2, s, 24}, DType::BF16);
    check_row_blocks(graph, matmul(softmax(matmul(q, k.t()), -1), v.cast(DType::F32)).output("y"));
  }
}

TEST(RowBlocks, TakeOtherSizesOfKeysAndValues) {
  check_row_blocks({.queries = 40, .keys = 7, .size = 3, .value_size = 5});
  check_row_blocks({.queries = 9, .keys = 1, .size = 1, .value_size = 1});
  check_row_blocks({.queries = 33, .keys = 600, .size = 20, .value_size = 70});
}

TEST(RowBlocks, TakeLengthsThatAreKnownWhenTheyRun) {
  const Expr s = Expr::var("s", 1, 200);
  for (DType dtype : {DType::F32, DType::BF16}) {
    check_row_blocks({.queries = s, .keys = s, .dtype = dtype, .options = {.causal = true}},
                     kThreeLengths);
    check_row_blocks({.queries = s, .keys = s, .dtype = dtype},
                     {{{"s", 1}}, {{"s", 64}}, {{"s", 2}}});
  }
}

TEST(RowBlocks, SeeAWindow) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    for (int64_t window : {1, 40}) {
      check_row_blocks({.queries = 130,
                        .keys = 130,
                        .dtype = dtype,
                        .options = {.causal = true, .window = Expr(window)}});
    }
  }
}

TEST(RowBlocks, ServeGroupedHeads) {
  check_row_blocks(
      {.queries = 65, .keys = 65, .heads = 6, .kv_heads = 2, .options = {.causal = true}});
  const Expr s = Expr::var("s", 1, 200);
  check_row_blocks(
      {.queries = s, .keys = s, .heads = 4, .kv_heads = 1, .options = {.causal = true}},
      kThreeLengths);
}

TEST(RowBlocks, HaveAPast) {
  const Expr s = Expr::var("s", 1, 100), p = Expr::var("p", 0, 100);
  check_row_blocks({.queries = s, .keys = s + p, .options = {.causal = true, .past = p}},
                   {{{"s", 20}, {"p", 0}}, {{"s", 1}, {"p", 20}}, {{"s", 40}, {"p", 70}}});
  check_row_blocks(
      {.queries = s, .keys = s + p, .options = {.causal = true, .past = p, .window = Expr(16)}},
      {{{"s", 20}, {"p", 0}}, {{"s", 1}, {"p", 20}}, {{"s", 40}, {"p", 70}}});
}

TEST(RowBlocks, TakeMasks) {
  for (bool causal : {false, true}) {
    for (DType dtype : {DType::F32, DType::Bool}) {
      Graph graph;
      Attention a{.queries = 65, .keys = 65};
      a.options.causal = causal;
      a.options.mask = graph.input("mask", {65, 65}, dtype);
      check_row_blocks(graph, attention(graph, a));
    }
  }
}

TEST(RowBlocks, CapScores) {
  Graph graph;
  Tensor q = graph.input("q", {2, 65, 16}), k = graph.input("k", {2, 65, 16});
  Tensor v = graph.input("v", {2, 65, 16});
  const Tensor scores = tanh(matmul(q, k.t()) * 0.05) * 5.0;
  const Tensor seen =
      prim::iota(graph, Expr::index(1, 65) >= Expr::index(2, 65), {2, 65, 65}, DType::Bool);
  const Tensor masked = where(seen, scores, -std::numeric_limits<double>::infinity());
  check_row_blocks(graph, matmul(softmax(masked, -1), v).output("y"));
}

// Heads inside of tokens, as projections leave them: the rows aren't the last outer loop.
TEST(RowBlocks, TakeHeadsInsideOfTokens) {
  Graph graph;
  auto heads = [&](const char* name) {
    return graph.input(name, {65, 3 * 16}).split_dims(1, {3, 16}).permute({1, 0, 2});
  };
  const Tensor y =
      scaled_dot_product_attention(heads("q"), heads("k"), heads("v"), {.causal = true});
  check_row_blocks(graph, y.permute({1, 0, 2}).merge_dims(1).output("y"));
}

// Keys and values come from a cache, which each run fills further.
TEST(RowBlocks, ReadACache) {
  constexpr int64_t kRoom = 100, kNew = 20;
  const Expr p = Expr::var("p", 0, kRoom - kNew);
  Graph graph;
  auto cached = [&](const char* name) {
    Tensor cache = graph.state(std::string(name) + "_cache", {kRoom, 2 * 16});
    const Tensor rows = prim::iota(graph, Expr::index(0, kNew) + p, {kNew}, DType::I32);
    const Tensor filled = index_put(cache, rows, graph.input(name, {kNew, 2 * 16}));
    graph.update(cache, filled);
    return filled.split_dims(1, {2, 16}).permute({1, 0, 2});
  };
  Tensor q = graph.input("q", {2, kNew, 16});
  const Tensor k = cached("k"), v = cached("v");
  const Tensor y = scaled_dot_product_attention(q, k, v, {.causal = true, .past = p}).output("y");
  Comparison comparison{.graph = graph, .results = {y}};
  comparison.run({{{"p", 0}}, {{"p", 20}}, {{"p", 40}}});
}

TEST(RowBlocks, GiveNaNOfScoresThatAreNaN) {
  Graph graph;
  const Tensor y = attention(graph, {.queries = 40, .keys = 40, .options = {.causal = true}});
  Executable exe = compile(graph, {.storage = {.cache_folder = "none"}});
  std::vector<float> q(2 * 40 * 16, 0.5f), rest(2 * 40 * 16, 0.25f);
  q[16 * 5] = std::numeric_limits<float>::quiet_NaN();
  exe.set(graph.tensor(graph.leaves()[0]), q);
  exe.set(graph.tensor(graph.leaves()[1]), rest);
  exe.set(graph.tensor(graph.leaves()[2]), rest);
  exe.run();
  const std::vector<float> got = exe.get<float>(y);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(std::isnan(got[i]), i / 16 == 5) << i;
}

// Scores of 8 heads would take 512 MB.
TEST(RowBlocks, NeverHoldAllScores) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    Graph graph;
    attention(graph, {.queries = 4096,
                      .keys = 4096,
                      .heads = 8,
                      .kv_heads = 8,
                      .size = 64,
                      .value_size = 64,
                      .dtype = dtype,
                      .options = {.causal = true}});
    CompileReport report;
    compile(graph,
            {.backend = {.threads = 2}, .storage = {.cache_folder = "none"}, .report = &report});
    EXPECT_EQ(report.kernels.size(), 1u);
    ASSERT_EQ(report.memory.size(), 1u);
    EXPECT_LT(report.memory[0].peak, 64u << 20);
  }
}

TEST(RowBlocks, HaveTheSameBitsOnAnyNumberOfThreads) {
  Graph graph;
  expect_same_bits(
      graph,
      attention(
          graph,
          {.queries = 130, .keys = 130, .heads = 3, .kv_heads = 3, .options = {.causal = true}}));
}

}  // namespace
}  // namespace luminal
