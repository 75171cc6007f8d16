#include "tests/driver/user_errors/mistakes.h"

namespace luminal {

std::vector<Mistake> building_mistakes() {
  return {
      {"matmul with inner sizes that differ",
       [](Graph& g) { matmul(g.input("a", {2, 3}), g.input("b", {4, 5})); }},
      {"matmul of a scalar", [](Graph& g) { g.input("a", {2, 3}).matmul(g.input("b", {})); }},
      {"adding shapes that don't broadcast",
       [](Graph& g) { g.input("a", {2, 3}) + g.input("b", {4, 5}); }},
      {"an axis out of range", [](Graph& g) { softmax(g.input("x", {2, 3}), 2); }},
      {"a sum over an axis that isn't there", [](Graph& g) { g.input("x", {2, 3}).sum({0, 3}); }},
      {"softmax of integers", [](Graph& g) { g.input("x", {3}, DType::I32).softmax(0); }},
      {"an index out of range", [](Graph& g) { g.input("x", {2, 3})[2]; }},
      {"an index into a scalar", [](Graph& g) { g.input("x", {})[0]; }},
      {"a slice that goes nowhere", [](Graph& g) { g.input("x", {8}).slice(0, 0, 8, 0); }},
      {"a reshape to another number of elements",
       [](Graph& g) { g.input("x", {2, 3}).reshape({4, 2}); }},
      {"two unknown dims in a reshape", [](Graph& g) { g.input("x", {2, 3}).reshape({-1, -1}); }},
      {"more dims than there may be",
       [](Graph& g) { g.input("x", {2}).reshape({2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}); }},
      {"a permutation that isn't one", [](Graph& g) { g.input("x", {2, 3}).permute({0, 0}); }},
      {"expanding an axis that isn't 1", [](Graph& g) { g.input("x", {2, 3}).expand({2, 4}); }},
      {"splitting by factors that don't multiply to the size",
       [](Graph& g) { g.input("x", {2, 6}).split_dims(1, {4, 2}); }},
      {"splitting into sizes that don't add up", [](Graph& g) { g.input("x", {6}).split({2, 3}); }},
      {"concatenating different shapes",
       [](Graph& g) { concat({g.input("a", {2, 3}), g.input("b", {2, 4})}, 0); }},
      {"stacking different shapes",
       [](Graph& g) { stack({g.input("a", {2, 3}), g.input("b", {2, 4})}); }},
      {"concatenating nothing", [](Graph&) { concat({}); }},
      {"a convolution with the wrong number of channels",
       [](Graph& g) { conv2d(g.input("x", {1, 3, 8, 8}), g.input("w", {4, 2, 3, 3})); }},
      {"a convolution of a matrix",
       [](Graph& g) { conv2d(g.input("x", {8, 8}), g.input("w", {4, 1, 3, 3})); }},
      {"a norm over other dims than the last ones",
       [](Graph& g) { layer_norm(g.input("x", {2, 8}), {4}); }},
      {"attention whose heads don't divide",
       [](Graph& g) {
         Tensor kv = g.input("kv", {3, 5, 4});
         scaled_dot_product_attention(g.input("q", {8, 5, 4}), kv, kv);
       }},
      {"an embedding with a float index",
       [](Graph& g) { embedding(g.input("w", {10, 4}), g.input("i", {3})); }},
      {"class indices that are floats",
       [](Graph& g) { cross_entropy(g.input("logits", {2, 10}), g.input("target", {2})); }},
      {"a gather with an index of another rank",
       [](Graph& g) { g.input("x", {2, 3}).gather(0, g.input("i", {3}, DType::I64)); }},
      {"a condition that isn't bool",
       [](Graph& g) { where(g.input("m", {3}), g.input("a", {3}), 0.0); }},
      {"a mask that isn't bool",
       [](Graph& g) { g.input("x", {3}).masked_fill(g.input("m", {3}), 0); }},
      {"subtracting bools",
       [](Graph& g) { g.input("a", {3}, DType::Bool) - g.input("b", {3}, DType::Bool); }},
      {"the bits of a float", [](Graph& g) { g.input("a", {3}).bitwise_and(1); }},
      {"computing with packed 4-bit data",
       [](Graph& g) { g.input("q", {4}, DType::U4) + g.input("x", {4}, DType::U4); }},
      {"a bitcast to another width", [](Graph& g) { g.input("x", {4}).bitcast(DType::F64); }},
      {"a layer over features of no fixed size",
       [](Graph& g) { nn::linear(nn::Scope(g, "fc"), g.input("x", {2, Expr::var("f")}), 8); }},
      {"heads that don't divide the features",
       [](Graph& g) { nn::self_attention(nn::Scope(g, "attn"), g.input("x", {5, 10}), 4); }},
  };
}

}  // namespace luminal
