// Multi-head attention, with PyTorch's packed projections or with one weight per projection.
//
// Sequences are [s, features] or, batch first, [n, s, features]. Masks are as in
// scaled_dot_product_attention (true: attended; floats are added), broadcast to [n, heads, s, t].
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
// v_proj_weight if key or value have other features than query), in_proj_bias, out_proj.weight,
// out_proj.bias. Its own bool masks mean the opposite: true where a key is masked out.
LUMINAL_API Tensor multi_head_attention(const Scope& scope, const Tensor& query, const Tensor& key,
                                        const Tensor& value, int heads,
                                        const MultiHeadAttentionOptions& options = {});

// Names of the projections' scopes, relative to the layer's.
struct ProjectionNames {
  std::string query = "q_proj";
  std::string key = "k_proj";
  std::string value = "v_proj";
  std::string out = "o_proj";
};

// Keys and values of previous tokens, held in states across runs.
struct KvCache {
  Expr room = 0;             // capacity in tokens
  Expr past = 0;             // tokens held before a run; those of the run are appended
  DType dtype = DType::F32;  // of the cached keys and values
};

struct SelfAttentionOptions {
  ProjectionNames names = {};
  std::optional<int> kv_heads = std::nullopt;       // default: as many as heads
  std::optional<int64_t> head_size = std::nullopt;  // default: features / heads
  bool bias = true;                                 // of query, key and value
  bool out_bias = true;
  bool causal = false;
  std::optional<Expr> window = std::nullopt;  // sliding window: keys that a query attends to
  std::optional<Tensor> mask = std::nullopt;
  // For x [s, features]: the states "prefix.k_cache" and "prefix.v_cache" [room, kv heads · head
  // size], initially zero.
  std::optional<KvCache> cache = std::nullopt;
  // Rotary embedding, applied to queries and keys, [… heads, s, head size].
  std::function<Tensor(const Tensor&)> rotate = nullptr;
};

// Self-attention with one linear layer per projection, as in Llama and BERT.
LUMINAL_API Tensor self_attention(const Scope& scope, const Tensor& x, int heads,
                                  const SelfAttentionOptions& options = {});

}  // namespace luminal::nn
