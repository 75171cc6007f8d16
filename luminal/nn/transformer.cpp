#include "luminal/nn/transformer.h"

#include "luminal/graph/composite/arithmetic.h"
#include "luminal/nn/attention.h"
#include "luminal/nn/linear.h"
#include "luminal/nn/norm.h"

namespace luminal::nn {
namespace {

using Function = std::function<Tensor(const Tensor&)>;

// Pre-norm: x + f(norm(x)); post-norm: norm(x + f(x)).
Tensor residual(const Scope& norm, const Tensor& x, const TransformerOptions& options,
                const Function& f) {
  auto normalized = [&](const Tensor& t) {
    return layer_norm(norm, t, {.eps = options.eps, .bias = options.bias});
  };
  return options.norm_first ? x + f(normalized(x)) : normalized(x + f(x));
}

Tensor attend_self(const Scope& scope, const Tensor& x, int heads,
                   const TransformerOptions& options) {
  return multi_head_attention(
      scope.child("self_attn"), x, x, x, heads,
      {.bias = options.bias, .causal = options.causal, .mask = options.mask});
}

Tensor feed_forward(const Scope& scope, const Tensor& x, const TransformerOptions& options) {
  Tensor hidden = linear(scope.child("linear1"), x, options.feedforward, {.bias = options.bias});
  return linear(scope.child("linear2"), options.activation(hidden), *x.dim(-1).to_int(),
                {.bias = options.bias});
}

Tensor final_norm(const Scope& scope, const Tensor& x, const StackOptions& options) {
  if (!options.final_norm) return x;
  return layer_norm(scope.child("norm"), x, {.eps = options.layer.eps, .bias = options.layer.bias});
}

}  // namespace

Tensor transformer_encoder_layer(const Scope& scope, const Tensor& x, int heads,
                                 const TransformerOptions& options) {
  Tensor y = residual(scope.child("norm1"), x, options,
                      [&](const Tensor& t) { return attend_self(scope, t, heads, options); });
  return residual(scope.child("norm2"), y, options,
                  [&](const Tensor& t) { return feed_forward(scope, t, options); });
}

Tensor transformer_decoder_layer(const Scope& scope, const Tensor& x, const Tensor& memory,
                                 int heads, const TransformerOptions& options) {
  Tensor y = residual(scope.child("norm1"), x, options,
                      [&](const Tensor& t) { return attend_self(scope, t, heads, options); });
  y = residual(scope.child("norm2"), y, options, [&](const Tensor& t) {
    return multi_head_attention(scope.child("multihead_attn"), t, memory, memory, heads,
                                {.bias = options.bias, .mask = options.memory_mask});
  });
  return residual(scope.child("norm3"), y, options,
                  [&](const Tensor& t) { return feed_forward(scope, t, options); });
}

Tensor transformer_encoder(const Scope& scope, const Tensor& x, int layers, int heads,
                           const StackOptions& options) {
  Tensor y = x;
  for (int i = 0; i < layers; ++i) {
    y = transformer_encoder_layer(scope.child("layers").child(i), y, heads, options.layer);
  }
  return final_norm(scope, y, options);
}

Tensor transformer_decoder(const Scope& scope, const Tensor& x, const Tensor& memory, int layers,
                           int heads, const StackOptions& options) {
  Tensor y = x;
  for (int i = 0; i < layers; ++i) {
    y = transformer_decoder_layer(scope.child("layers").child(i), y, memory, heads, options.layer);
  }
  return final_norm(scope, y, options);
}

}  // namespace luminal::nn
