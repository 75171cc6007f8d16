// Attention with a cache gives, chunk by chunk, what attention over the whole sequence gives.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/driver/compile.h"
#include "luminal/graph/composite/attention.h"
#include "luminal/graph/composite/rotary.h"
#include "luminal/nn/attention.h"
#include "luminal/nn/gated.h"

namespace luminal::nn {
namespace {

constexpr int64_t kFeatures = 16, kLength = 12;

std::vector<float> values(size_t count, int step) {
  std::vector<float> result(count);
  for (size_t i = 0; i < count; ++i) {
    result[i] = static_cast<float>((i * static_cast<size_t>(step)) % 17) / 17.0f - 0.5f;
  }
  return result;
}

struct Layer {
  Graph graph;
  Tensor x, y;

  Layer(std::optional<Expr> window, bool with_cache, DType cache = DType::F32) {
    const Expr s = Expr::var("s", 1, kLength);
    const Expr past = with_cache ? Expr::var("past", 0, kLength - 1) : Expr(0);
    x = graph.input("x", {s, kFeatures});
    SelfAttentionOptions options{.kv_heads = 2,
                                 .bias = false,
                                 .out_bias = false,
                                 .causal = true,
                                 .window = window,
                                 .rotate = [past](const Tensor& heads) {
                                   return rotary_embedding(heads, {.offset = past});
                                 }};
    if (with_cache) options.cache = {.room = kLength, .past = past, .dtype = cache};
    y = gated_feed_forward(Scope(graph, "mlp"), self_attention(Scope(graph, "attn"), x, 4, options),
                           24)
            .output("y");
    int step = 3;
    for (const Parameter& weight : parameters(graph)) {
      size_t count = 1;
      for (int64_t dim : weight.dims) count *= static_cast<size_t>(dim);
      graph.find(weight.name)->set(values(count, step += 2));
    }
  }
};

// How far the chunks' results are from those of the whole sequence.
double difference(std::optional<Expr> window, DType cache, const char* backend) {
  const std::vector<float> x = values(kLength * kFeatures, 5);
  Layer whole(window, false);
  Executable once = compile(whole.graph, {.backend = {.name = backend}});
  once.set(whole.x, x);
  once.run({{"s", kLength}});
  const std::vector<float> expected = once.get<float>(whole.y);

  Layer layer(window, true, cache);
  Executable exe = compile(layer.graph, {.backend = {.name = backend}});
  std::vector<float> found;
  double most = 0;
  for (int round = 0; round < 2; ++round) {  // with past = 0 a new sequence begins
    found.clear();
    int64_t past = 0;
    for (int64_t length : {5, 1, 1, 4, 1}) {
      const auto begin = x.begin() + past * kFeatures;
      exe.set(layer.x, std::vector<float>(begin, begin + length * kFeatures));
      exe.run({{"s", length}, {"past", past}});
      const std::vector<float> part = exe.get<float>(layer.y);
      found.insert(found.end(), part.begin(), part.end());
      past += length;
    }
    EXPECT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      most = std::max(most, std::abs(double{found[i]} - double{expected[i]}));
    }
  }
  return most;
}

TEST(KvCache, ChunksGiveWhatTheWholeGives) {
  for (const char* backend : {"interp", "cpu"}) {
    EXPECT_LT(difference(std::nullopt, DType::F32, backend), 1e-5) << backend;
    EXPECT_LT(difference(Expr(3), DType::F32, backend), 1e-5) << backend;
  }
}

// Query i sees the keys i - 1 and i, of which there are two.
void expect_zero_after_three_queries(DType dtype, const char* backend) {
  Graph graph;
  const Tensor q = graph.input("q", {1, Expr::var("s", 1, 8), 4});
  const Tensor keys = graph.input("keys", {1, 2, 4});
  const Tensor k = keys.cast(dtype);
  const Tensor seen = scaled_dot_product_attention(q.cast(dtype), k, k, {.window = Expr(2)});
  const Tensor y = seen.cast(DType::F32).output("y");
  Executable run = compile(graph, {.backend = {.name = backend}});
  run.set(keys, values(8, 3));
  for (const size_t queries : {6u, 2u, 8u}) {
    run.set(q, values(queries * 4, 5));
    run.run({{"s", static_cast<int64_t>(queries)}});
    const std::vector<float> found = run.get<float>(y);
    ASSERT_EQ(found.size(), queries * 4);
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i] == 0, i >= 3 * 4)
          << name(dtype) << " on " << backend << " at " << i << ": " << found[i];
    }
  }
}

TEST(Attention, GivesZeroWhereAWindowHoldsNoKey) {
  for (const char* backend : {"interp", "cpu"}) {
    for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
      expect_zero_after_three_queries(dtype, backend);
    }
  }
}

TEST(KvCache, MayHoldNarrowerFloats) {
  const double narrow = difference(std::nullopt, DType::F16, "cpu");
  EXPECT_LT(narrow, 5e-3);
  EXPECT_GT(narrow, 0);  // it does round
}

TEST(KvCache, IsOfOneSequence) {
  Graph graph;
  const Tensor x = graph.input("x", {2, 3, kFeatures});
  EXPECT_THROW(self_attention(Scope(graph, "a"), x, 4, {.cache = KvCache{.room = 8}}), UserError);
}

}  // namespace
}  // namespace luminal::nn
