// Multi-head attention, with PyTorch's packed projections or with one weight per projection.
//
// Sequences are [s, features] or, batch first, [n, s, features]. Masks are as in
// scaled_dot_product_attention (true: seen; floats are added) and broadcast to [n, heads, s, t].
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"
#include "luminal/nn/scope.h"

namespace luminal::nn {

struct MultiHeadAttentionOptions {
  bool bias = true;
  bool causal = false;
  std::optional<Tensor> mask = std::nullopt;
};

// torch.nn.MultiheadAttention: in_proj_weight [3·e, e] (or q_proj_weight, k_proj_weight and
// v_proj_weight where key or value have other features than query), in_proj_bias, out_proj.weight,
// out_proj.bias. Its own bool masks mean the opposite: true where a key is not seen.
LUMINAL_API Tensor multi_head_attention(const Scope& scope, const Tensor& query, const Tensor& key,
                                        const Tensor& value, int heads,
                                        const MultiHeadAttentionOptions& options = {});

// Scopes of the projections below the layer's.
struct ProjectionNames {
  std::string query = "q_proj";
  std::string key = "k_proj";
  std::string value = "v_proj";
  std::string out = "o_proj";
};

// Keys and values of the tokens before, held in states across runs.
struct KvCache {
  Expr room = 0;             // the most tokens it holds
  Expr past = 0;             // how many it holds before a run, whose own come after them
  DType dtype = DType::F32;  // that it holds them in
};

struct SelfAttentionOptions {
  ProjectionNames names = {};
  std::optional<int> kv_heads = std::nullopt;       // as many as heads unless given
  std::optional<int64_t> head_size = std::nullopt;  // features / heads unless given
  bool bias = true;                                 // of query, key and value
  bool out_bias = true;
  bool causal = false;
  std::optional<Expr> window = std::nullopt;  // a query sees only the last `window` keys up to it
  std::optional<Tensor> mask = std::nullopt;
  // Of x [s, features]: the states "prefix.k_cache" and "prefix.v_cache" [room, kv heads · head
  // size], which start as zeros.
  std::optional<KvCache> cache = std::nullopt;
  // Applied to the queries and to the keys, [… heads, s, head size]: a rotary embedding.
  std::function<Tensor(const Tensor&)> rotate = nullptr;
};

// Self-attention with a linear layer per projection, as Llama's, BERT's and their kin's.
LUMINAL_API Tensor self_attention(const Scope& scope, const Tensor& x, int heads,
                                  const SelfAttentionOptions& options = {});

}  // namespace luminal::nn
