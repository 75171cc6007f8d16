#include "luminal/nn/attention.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/attention.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/primitives.h"
#include "luminal/nn/linear.h"

namespace luminal::nn {
namespace {

[[noreturn]] void fail(const Scope& scope, const char* layer, const std::string& message) {
  throw UserError(fmt::format("nn::{} '{}': {}", layer, scope.prefix(), message));
}

// The features of a sequence, which must be a constant.
int64_t features_of(const Scope& scope, const char* layer, const char* which, const Tensor& x) {
  if (x.rank() < 2 || x.rank() > 3 || !x.dim(-1).to_int()) {
    fail(
        scope, layer,
        fmt::format("{} is {}; it must be [s, features] or [n, s, features] with a fixed number of "
                    "features",
                    which, text(x.dims())));
  }
  return *x.dim(-1).to_int();
}

// [… s, heads · size] to [… heads, s, size], and back.
Tensor split_heads(const Tensor& x, int64_t heads, int64_t size) {
  return x.split_dims(-1, {heads, size}).transpose(-3, -2);
}
Tensor merge_heads(const Tensor& x) {
  Tensor moved = x.transpose(-3, -2);
  return moved.merge_dims(moved.rank() - 2);
}

// Writes x [heads, s, size] into the cache after its `past` rows; returns all [heads, room, size].
Tensor cached(const Scope& scope, const char* name, const Tensor& x, const KvCache& cache) {
  Graph& graph = scope.graph();
  const Dims dims = {cache.room, x.dim(0) * x.dim(2)};
  const Tensor state = graph.state(fmt::format("{}.{}", scope.prefix(), name), dims, cache.dtype);
  const Expr length = x.dim(1);
  const Tensor rows = prim::iota(graph, Expr::index(0, length) + cache.past, {length}, DType::I32);
  const Tensor filled = index_put(state, rows, merge_heads(x).cast(cache.dtype));
  graph.update(state, filled);
  return split_heads(filled, *x.dim(0).to_int(), *x.dim(2).to_int()).cast(x.dtype());
}

// q, k and v of PyTorch's module, before the heads are split.
struct Projected {
  Tensor q, k, v;
};

Projected project_packed(const Scope& scope, const Tensor& query, const Tensor& key,
                         const Tensor& value, bool has_bias) {
  Expr e = query.dim(-1);
  Tensor wq, wk, wv;
  if (key.dim(-1) == e && value.dim(-1) == e) {
    Tensor packed = scope.weight("in_proj_weight", {3 * e, e});
    wq = packed.narrow(0, 0, e);
    wk = packed.narrow(0, e, e);
    wv = packed.narrow(0, 2 * e, e);
  } else {
    wq = scope.weight("q_proj_weight", {e, e});
    wk = scope.weight("k_proj_weight", {e, key.dim(-1)});
    wv = scope.weight("v_proj_weight", {e, value.dim(-1)});
  }
  Projected result = {matmul(query, wq.t()), matmul(key, wk.t()), matmul(value, wv.t())};
  if (has_bias) {
    Tensor bias = scope.weight("in_proj_bias", {3 * e});
    result.q += bias.narrow(0, 0, e);
    result.k += bias.narrow(0, e, e);
    result.v += bias.narrow(0, 2 * e, e);
  }
  return result;
}

}  // namespace

Tensor multi_head_attention(const Scope& scope, const Tensor& query, const Tensor& key,
                            const Tensor& value, int heads,
                            const MultiHeadAttentionOptions& options) {
  constexpr const char* kLayer = "multi_head_attention";
  int64_t features = features_of(scope, kLayer, "query", query);
  features_of(scope, kLayer, "key", key);
  features_of(scope, kLayer, "value", value);
  if (heads < 1 || features % heads != 0) {
    fail(scope, kLayer, fmt::format("{} features don't divide into {} heads", features, heads));
  }
  Projected p = project_packed(scope, query, key, value, options.bias);
  int64_t size = features / heads;
  Tensor y = scaled_dot_product_attention(
      split_heads(p.q, heads, size), split_heads(p.k, heads, size), split_heads(p.v, heads, size),
      {.causal = options.causal, .mask = options.mask});
  return linear(scope.child("out_proj"), merge_heads(y), features, {.bias = options.bias});
}

Tensor self_attention(const Scope& scope, const Tensor& x, int heads,
                      const SelfAttentionOptions& options) {
  constexpr const char* kLayer = "self_attention";
  int64_t features = features_of(scope, kLayer, "x", x);
  int kv_heads = options.kv_heads.value_or(heads);
  if (heads < 1 || kv_heads < 1 || heads % kv_heads != 0) {
    fail(scope, kLayer, fmt::format("{} heads don't divide into {} kv heads", heads, kv_heads));
  }
  if (!options.head_size && features % heads != 0) {
    fail(scope, kLayer,
         fmt::format("{} features don't divide into {} heads; give head_size", features, heads));
  }
  int64_t size = options.head_size.value_or(features / heads);
  auto project = [&](const std::string& name, int64_t n_heads) {
    Tensor y = linear(scope.child(name), x, n_heads * size, {.bias = options.bias});
    return split_heads(y, n_heads, size);
  };
  Tensor q = project(options.names.query, heads);
  Tensor k = project(options.names.key, kv_heads);
  Tensor v = project(options.names.value, kv_heads);
  if (options.rotate) {
    q = options.rotate(q);
    k = options.rotate(k);
  }
  Expr past = 0;
  if (options.cache) {
    if (x.rank() != 2) fail(scope, kLayer, "a cache is of one sequence: x must be [s, features]");
    past = options.cache->past;
    k = cached(scope, "k_cache", k, *options.cache);
    v = cached(scope, "v_cache", v, *options.cache);
  }
  Tensor y = scaled_dot_product_attention(
      q, k, v,
      {.causal = options.causal, .past = past, .window = options.window, .mask = options.mask});
  return linear(scope.child(options.names.out), merge_heads(y), features,
                {.bias = options.out_bias});
}

}  // namespace luminal::nn
