#include "apps/bench/search/latent_attention.h"

#include <cmath>

namespace luminal {

void add_latent_attention(Graph& graph, const LatentShape& shape, bool absorbed) {
  const auto& [tokens, heads, width, latent, rotary, features] = shape;
  const Tensor x = graph.input("x", {1, features});
  const Tensor cached = graph.input("latents", {tokens, latent});
  const Tensor cached_rotary = graph.input("rotary_keys", {tokens, rotary});
  // [heads, rows, …]
  const auto by_head = [&](const Tensor& rows, int64_t of_head) {
    return rows.reshape({rows.dim(0), heads, of_head}).transpose(0, 1);
  };
  const auto query = [&](const char* name, int64_t of_head) {
    return by_head(matmul(x, graph.weight(name, {features, heads * of_head})), of_head);
  };
  const Tensor q = query("query", width);
  const Tensor q_rotary = rotary_embedding(query("rotary_query", rotary), {.offset = tokens - 1});
  const Tensor to_keys = graph.weight("keys", {latent, heads * width});
  const Tensor to_values = graph.weight("values", {latent, heads * width});

  const Tensor of_rotary = matmul(q_rotary, cached_rotary.t());  // [heads, 1, tokens]
  const Tensor of_latents =
      absorbed ? matmul(matmul(q, by_head(to_keys, width).transpose(1, 2)), cached.t())
               : matmul(q, by_head(matmul(cached, to_keys), width).transpose(1, 2));
  const float scale = 1 / std::sqrt(static_cast<float>(width + rotary));
  const Tensor shares = softmax((of_latents + of_rotary) * scale, -1);
  const Tensor attended = absorbed ? matmul(matmul(shares, cached), by_head(to_values, width))
                                   : matmul(shares, by_head(matmul(cached, to_values), width));
  const Tensor joined = attended.transpose(0, 1).reshape({1, heads * width});
  matmul(joined, graph.weight("out", {heads * width, features})).output("y");
}

}  // namespace luminal
