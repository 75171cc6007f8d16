// Scaled dot-product attention.
#pragma once

#include <optional>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

struct AttentionOptions {
  bool causal = false;  // query i attends to keys up to i + past (past 0: PyTorch's is_causal)
  Expr past = 0;        // keys before the first query, for example in a KV cache
  std::optional<Expr> window = std::nullopt;   // only the last `window` keys up to i + past
  std::optional<Tensor> mask = std::nullopt;   // bool: true for keys to attend to; float: added
  std::optional<double> scale = std::nullopt;  // default: 1 / √(head size)
};

// softmax(q kᵀ · scale + mask) v for q [… heads, s, d], k [… kv heads, t, d], v [… kv heads, t, e];
// each kv head serves heads / kv heads query heads. Rows without a key to attend to are 0. f16 and
// bf16 are computed in f32 and rounded once.
LUMINAL_API Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                                const AttentionOptions& options = {});

}  // namespace luminal
