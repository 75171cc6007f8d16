// Llama blocks, at a small width for the e-graph, which doesn't see sizes.
#pragma once

#include "luminal/luminal.h"

namespace luminal::search {

// Pre-norm.
inline Tensor llama_block(const nn::Scope& scope, const Tensor& x, int heads, int kv_heads,
                          int64_t hidden = 256) {
  auto rotate = [](const Tensor& t) { return rotary_embedding(t); };
  Tensor h = nn::rms_norm(scope.child("input_layernorm"), x, {.eps = 1e-5});
  Tensor a = nn::self_attention(
      scope.child("self_attn"), h, heads,
      {.kv_heads = kv_heads, .bias = false, .out_bias = false, .causal = true, .rotate = rotate});
  Tensor y = x + a;
  h = nn::rms_norm(scope.child("post_attention_layernorm"), y, {.eps = 1e-5});
  auto project = [&](const char* name, const Tensor& in, int64_t out) {
    return nn::linear(scope.child(name), in, out, {.bias = false});
  };
  const Tensor gated = silu(project("gate", h, hidden)) * project("up", h, hidden);
  return y + project("down", gated, x.dim(-1).to_int().value());
}

inline void add_llama_blocks(Graph& graph, int blocks) {
  Tensor x = graph.input("x", {1, Expr::var("s", 1, 512), 64});
  for (int i = 0; i < blocks; ++i) x = llama_block(nn::Scope(graph).child(i), x, 4, 2);
  x.output("y");
}

}  // namespace luminal::search
