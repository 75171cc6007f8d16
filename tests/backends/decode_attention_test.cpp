// Attention of one query over a past of any length on the cpu, split over that past: right at every
// length, with every kind of mask, run after run on the same executable.
#include <gtest/gtest.h>

#include <limits>

#include "tests/backends/against_interpreter.h"

namespace luminal {
namespace {

constexpr int64_t kDecodeRoom = 4200;

struct Decode {
  int64_t heads = 4, kv_heads = 2, size = 16;
  DType dtype = DType::F32;
  bool whole = false;      // reads all of the cache, and a mask hides what isn't there yet
  bool by_tokens = false;  // the cache is [tokens, heads · size]
  AttentionOptions options = {};
};

Expr past() { return Expr::var("p", 0, kDecodeRoom - 1); }

Tensor decode(Graph& graph, const Decode& d) {
  Tensor q = graph.input("q", {d.heads, 1, d.size}, d.dtype);
  auto cached = [&](const char* name) {
    Tensor cache = d.by_tokens ? graph.state(name, {kDecodeRoom, d.kv_heads * d.size}, d.dtype)
                                     .split_dims(1, {d.kv_heads, d.size})
                                     .permute({1, 0, 2})
                               : graph.state(name, {d.kv_heads, kDecodeRoom, d.size}, d.dtype);
    return d.whole ? cache : cache.narrow(1, 0, past() + 1);
  };
  AttentionOptions options = d.options;
  options.causal = true;
  options.past = past();
  return scaled_dot_product_attention(q, cached("k"), cached("v"), options).output("y");
}

const std::vector<Bindings> kAllPasts = {{{"p", 1000}}, {{"p", 0}},   {{"p", 1}},
                                         {{"p", 15}},   {{"p", 16}},  {{"p", 17}},
                                         {{"p", 255}},  {{"p", 256}}, {{"p", 4097}}};
const std::vector<Bindings> kPasts = {{{"p", 600}}, {{"p", 0}}, {{"p", 255}}};

void check_decode(Graph& graph, const Tensor& y, const std::vector<Bindings>& runs = kPasts,
                  const std::vector<std::string>& targets = {"", "avx2"}) {
  for (const std::string& target : targets) {
    SCOPED_TRACE(target);
    Comparison comparison{.graph = graph, .results = {y}};
    comparison.options.backend.target = target;
    comparison.options.plan.typical_sizes = {{"p", 2000}};
    // Peaks of another target are scaled from this machine's, and may make two kernels worth it.
    if (!target.empty()) comparison.options.plan.fusion = FusionPolicy::Always;
    comparison.run(runs);
    EXPECT_EQ(comparison.report.kernels.size(), 1u);
  }
}

void check_decode(const Decode& d, const std::vector<Bindings>& runs = kPasts) {
  Graph graph;
  check_decode(graph, decode(graph, d), runs);
}

TEST(DecodeAttention, IsRightAtEveryLengthOfThePast) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    SCOPED_TRACE(name(dtype));
    check_decode({.dtype = dtype}, kAllPasts);
    check_decode({.dtype = dtype, .by_tokens = true}, kAllPasts);
  }
  check_decode({.dtype = DType::F16});
}

TEST(DecodeAttention, ReadsNoMoreOfACacheThanIsThere) {
  for (DType dtype : {DType::F32, DType::BF16}) check_decode({.dtype = dtype, .whole = true});
}

// Rows that share a key may be more than the lanes of a vector: 4 on sse2.
TEST(DecodeAttention, TakesGroupsThatAreLargerThanAVector) {
  for (int64_t heads : {1, 3, 4, 5, 6, 7, 8, 9}) {
    SCOPED_TRACE(heads);
    Graph graph;
    const Decode d{.heads = heads, .kv_heads = 1, .size = 16};
    check_decode(graph, decode(graph, d), {{{"p", 600}}}, {"sse2"});
  }
}

TEST(DecodeAttention, TakesHeadsInGroupsOfAnySize) {
  check_decode({.heads = 9, .kv_heads = 3, .size = 64});
  check_decode({.heads = 8, .kv_heads = 1, .size = 32});
  check_decode({.heads = 3, .kv_heads = 3, .size = 20});
  check_decode({.heads = 32, .kv_heads = 1, .size = 8});
  check_decode({.heads = 6, .kv_heads = 2, .size = 128, .dtype = DType::BF16});
}

// What is computed of a query comes before all keys.
TEST(DecodeAttention, TurnsQueries) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    Graph graph;
    Tensor q = graph.input("q", {6, 1, 32}, dtype);
    auto cached = [&](const char* name) {
      return graph.state(name, {2, kDecodeRoom, 32}, dtype).narrow(1, 0, past() + 1);
    };
    const Tensor turned = rotary_embedding(q, {.offset = past()});
    const Tensor y = scaled_dot_product_attention(turned, cached("k"), cached("v"),
                                                  {.causal = true, .past = past()});
    Comparison comparison{.graph = graph, .results = {y.output("y")}};
    comparison.options.plan.fusion = FusionPolicy::Always;
    comparison.run(kPasts);
    EXPECT_EQ(comparison.report.kernels.size(), 1u);
  }
}

TEST(DecodeAttention, SeesAWindow) {
  for (int64_t window : {1, 40, 300}) check_decode({.options = {.window = Expr(window)}});
}

TEST(DecodeAttention, TakesMasks) {
  for (DType dtype : {DType::F32, DType::Bool}) {
    Graph graph;
    Decode d;
    d.whole = true;
    d.options.mask = graph.input("mask", {1, kDecodeRoom}, dtype);
    check_decode(graph, decode(graph, d));
  }
}

TEST(DecodeAttention, CapsScores) {
  Graph graph;
  Tensor q = graph.input("q", {2, 1, 16});
  auto cached = [&](const char* name) {
    return graph.state(name, {2, kDecodeRoom, 16}).narrow(1, 0, past() + 1);
  };
  const Tensor scores = tanh(matmul(q, cached("k").t()) * 0.05) * 5.0;
  check_decode(graph, matmul(softmax(scores, -1), cached("v")).output("y"));
}

// Where nothing is seen in a whole range, what it leaves must not count.
TEST(DecodeAttention, TakesRangesThatAreHidden) {
  Graph graph;
  Decode d{.whole = true};
  d.options.mask = graph.input("mask", {1, kDecodeRoom}, DType::Bool);
  const Tensor y = decode(graph, d);
  Executable cpu = compile(graph, {.storage = {.cache_folder = "none"}});
  Executable exact = compile(graph, {.backend = {.name = "interp", .float64 = true}});
  for (int64_t first : {0, 300, 4199}) {  // the only one that is seen
    for (Executable* exe : {&cpu, &exact}) {
      for (NodeId leaf : graph.leaves()) {
        const Tensor tensor = graph.tensor(leaf);
        std::vector<float> values(static_cast<size_t>(n_elements(tensor.dims()).to_int().value()));
        for (size_t i = 0; i < values.size(); ++i) {
          values[i] = static_cast<float>(i % 17) / 8 - 1;
          if (tensor.dtype() == DType::Bool) values[i] = static_cast<int64_t>(i) == first;
        }
        std::vector<int64_t> dims;
        for (Expr dim : tensor.dims()) dims.push_back(dim.to_int().value());
        const std::span<const float> all = values;
        exe->set(tensor, TensorData::copy_of(all, dims).cast(tensor.dtype()));
      }
      exe->run({{"p", kDecodeRoom - 1}});
    }
    const std::vector<double> got = cpu.get<double>(y), wanted = exact.get<double>(y);
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-6) << i;
  }
}

TEST(DecodeAttention, HasTheSameBitsOnAnyNumberOfThreads) {
  Graph graph;
  Tensor q = graph.input("q", {3, 1, 64});
  Tensor k = graph.input("k", {1, 2000, 64}), v = graph.input("v", {1, 2000, 64});
  expect_same_bits(graph, scaled_dot_product_attention(q, k, v, {}).output("y"));
}

}  // namespace
}  // namespace luminal
