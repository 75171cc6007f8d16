// Scaled dot-product attention.
#pragma once

#include <optional>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

struct AttentionOptions {
  bool causal = false;  // query i sees keys up to i + past (PyTorch's is_causal at past 0)
  Expr past = 0;        // keys that come before the first query, e.g. in a cache
  std::optional<Expr> window = std::nullopt;   // only the last `window` of the keys up to i + past
  std::optional<Tensor> mask = std::nullopt;   // bool: true where a key is seen; float: added
  std::optional<double> scale = std::nullopt;  // 1 / √(head size) unless given
};

// softmax(q kᵀ · scale + mask) v for q [… heads, s, d], k [… kv heads, t, d], v [… kv heads, t, e];
// each kv head serves heads / kv heads queries. Rows that see no key are 0. f16 and bf16 compute in
// f32 and round once.
LUMINAL_API Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                                const AttentionOptions& options = {});

}  // namespace luminal
