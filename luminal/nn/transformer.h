// Transformer blocks with the names of torch.nn's. Sequences and masks as in attention.h.
#pragma once

#include <functional>
#include <optional>

#include "luminal/base/visibility.h"
#include "luminal/graph/composite/activation.h"
#include "luminal/graph/tensor.h"
#include "luminal/nn/scope.h"

namespace luminal::nn {

struct TransformerOptions {
  int64_t feedforward = 2048;
  std::function<Tensor(const Tensor&)> activation = relu;
  double eps = 1e-5;
  bool norm_first = false;
  bool bias = true;
  bool causal = false;                               // self-attention
  std::optional<Tensor> mask = std::nullopt;         // self-attention
  std::optional<Tensor> memory_mask = std::nullopt;  // cross-attention to the memory
};

// torch.nn.TransformerEncoderLayer: self_attn, linear1, linear2, norm1, norm2.
LUMINAL_API Tensor transformer_encoder_layer(const Scope& scope, const Tensor& x, int heads,
                                             const TransformerOptions& options = {});
// torch.nn.TransformerDecoderLayer: self_attn, multihead_attn, linear1, linear2, norm1 … norm3.
LUMINAL_API Tensor transformer_decoder_layer(const Scope& scope, const Tensor& x,
                                             const Tensor& memory, int heads,
                                             const TransformerOptions& options = {});

// torch.nn.TransformerEncoder and -Decoder: layers.0 … and, with `final_norm`, norm.
struct StackOptions {
  TransformerOptions layer = {};
  bool final_norm = false;
};
LUMINAL_API Tensor transformer_encoder(const Scope& scope, const Tensor& x, int layers, int heads,
                                       const StackOptions& options = {});
LUMINAL_API Tensor transformer_decoder(const Scope& scope, const Tensor& x, const Tensor& memory,
                                       int layers, int heads, const StackOptions& options = {});

}  // namespace luminal::nn
