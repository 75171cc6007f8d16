// Matrix products and attention.
#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/attention.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/pytorch/aten/op_table.h"

namespace luminal::pytorch {
namespace {

Values multiplied(const Arguments& of) { return {matmul(of.tensor(0), of.tensor(1))}; }

Values linear_of(const Arguments& of) {
  const Tensor x = of.tensor(0), weight = of.tensor(1);
  const auto bias = of.maybe_tensor(2);
  if (!bias) return {matmul(x, weight.t())};
  // Halves are added to the sum before it is rounded.
  const DType compute = is_half(x.dtype()) ? DType::F32 : x.dtype();
  const Tensor product = matmul(x.cast(compute), weight.cast(compute).t());
  return {(product + bias->cast(compute)).cast(x.dtype())};
}

Values attention(const Arguments& of) {
  if (of.real(4) != 0) throw UserError("its dropout_p isn't 0: export the model after eval()");
  return {scaled_dot_product_attention(
      of.tensor(0), of.tensor(1), of.tensor(2),
      {.causal = of.flag(5), .mask = of.maybe_tensor(3), .scale = of.maybe_real(6)})};
}

constexpr OpEntry kProductsOps[] = {
    {"aten.matmul.default", "self, other", multiplied},
    {"aten.mm.default", "self, mat2", multiplied},
    {"aten.bmm.default", "self, mat2", multiplied},
    {"aten.mv.default", "self, vec", multiplied},
    {"aten.dot.default", "self, tensor", multiplied},
    {"aten.vdot.default", "self, other", multiplied},
    {"aten.outer.default", "self, vec2",
     [](const Arguments& of) -> Values {
       return {of.tensor(0).unsqueeze(1) * of.tensor(1).unsqueeze(0)};
     }},
    {"aten.linear.default", "input, weight, bias=None", linear_of},
    {"aten.scaled_dot_product_attention.default",
     "query, key, value, attn_mask=None, dropout_p=0, is_causal=False, scale=None, "
     "enable_gqa=False",
     attention},
};

}  // namespace

std::span<const OpEntry> product_ops() { return kProductsOps; }

}  // namespace luminal::pytorch
