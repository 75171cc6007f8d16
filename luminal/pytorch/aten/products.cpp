// Matrix products, convolutions, pooling and attention.
#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/attention.h"
#include "luminal/graph/composite/conv.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/pytorch/aten/op_table.h"

namespace luminal::pytorch {
namespace {

Values multiplied(const Arguments& of) { return {matmul(of.tensor(0), of.tensor(1))}; }

Values linear_of(const Arguments& of) {
  Tensor y = matmul(of.tensor(0), of.tensor(1).t());
  if (const auto bias = of.maybe_tensor(2)) y = y + *bias;
  return {y};
}

bool is_one(const Scalar& scalar) {
  return scalar.kind != Scalar::Kind::Symbolic && scalar.real == 1;
}

// beta · self + alpha · a b
Values added_product(const Arguments& of) {
  Tensor product = matmul(of.tensor(1), of.tensor(2));
  Tensor bias = of.tensor(0);
  if (!is_one(of.scalar(3))) bias = bias * of.scalar(3);
  if (!is_one(of.scalar(4))) product = product * of.scalar(4);
  return {bias + product};
}

// A list of one value stands for all axes.
Expr at(const Dims& sizes, size_t axis, Expr otherwise) {
  if (sizes.empty()) return otherwise;
  return sizes.size() == 1 ? sizes[0] : sizes[axis];
}
Size2 pair(const Dims& sizes, Expr otherwise) {
  return Size2(at(sizes, 0, otherwise), at(sizes, 1, otherwise));
}

Tensor convolution(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
                   const Dims& stride, const Dims& padding, const Dims& dilation, int groups) {
  if (weight.rank() == 3) {
    return conv1d(x, weight, bias,
                  {.stride = at(stride, 0, 1),
                   .padding = at(padding, 0, 0),
                   .dilation = at(dilation, 0, 1),
                   .groups = groups});
  }
  if (weight.rank() == 4) {
    return conv2d(x, weight, bias,
                  {.stride = pair(stride, 1),
                   .padding = pair(padding, 0),
                   .dilation = pair(dilation, 1),
                   .groups = groups});
  }
  throw UserError("it has more than two spatial axes; one and two are supported");
}

Values core_convolution(const Arguments& of) {
  if (of.flag(6)) throw UserError("it is transposed, which isn't supported yet");
  return {convolution(of.tensor(0), of.tensor(1), of.maybe_tensor(2), of.sizes(3), of.sizes(4),
                      of.sizes(5), of.integer(8))};
}

Values plain_convolution(const Arguments& of) {
  return {convolution(of.tensor(0), of.tensor(1), of.maybe_tensor(2), of.sizes(3), of.sizes(4),
                      of.sizes(5), of.integer(6))};
}

Dims same_padding(const Tensor& weight, const Dims& dilation) {
  Dims padding;
  for (int axis = 2; axis < weight.rank(); ++axis) {
    const Expr total = at(dilation, static_cast<size_t>(axis - 2), 1) * (weight.dim(axis) - 1);
    if (!(total % 2).is(0)) throw UserError("its padding 'same' differs at the two ends");
    padding.push_back(total / 2);
  }
  return padding;
}

Values worded_convolution(const Arguments& of) {
  const Tensor weight = of.tensor(1);
  const Dims dilation = of.sizes(5);
  const Dims padding = of.word(4) == "same" ? same_padding(weight, dilation) : Dims{0};
  return {convolution(of.tensor(0), weight, of.maybe_tensor(2), of.sizes(3), padding, dilation,
                      of.integer(6))};
}

std::optional<Size2> stride_of(const Dims& stride) {
  if (stride.empty()) return std::nullopt;
  return pair(stride, 1);
}

Values max_pool(const Arguments& of) {
  for (Expr dilation : of.sizes(4)) {
    if (!dilation.is(1)) throw UserError("its dilation isn't 1");
  }
  if (of.flag(5)) throw UserError("its ceil_mode is set, which isn't supported yet");
  return {max_pool2d(of.tensor(0), pair(of.sizes(1), 1),
                     {.stride = stride_of(of.sizes(2)), .padding = pair(of.sizes(3), 0)})};
}

Values average_pool(const Arguments& of) {
  if (of.flag(4) || !of.is_none(6)) throw UserError("its ceil_mode or divisor isn't supported yet");
  return {avg_pool2d(of.tensor(0), pair(of.sizes(1), 1),
                     {.stride = stride_of(of.sizes(2)),
                      .padding = pair(of.sizes(3), 0),
                      .count_include_pad = of.flag(5)})};
}

// To a size that divides the input's.
Values adaptive_average_pool(const Arguments& of) {
  Tensor x = of.tensor(0);
  const Dims sizes = of.sizes(1);
  if (sizes.size() == 2 && sizes[0].is(1) && sizes[1].is(1)) {
    return {mean(x, {-2, -1}, {.keepdim = true})};
  }
  const Expr h = x.dim(-2), w = x.dim(-1);
  if (!(h % sizes[0]).is(0) || !(w % sizes[1]).is(0)) {
    throw UserError("its output size doesn't divide the input's, which isn't supported yet");
  }
  const Size2 window(h / sizes[0], w / sizes[1]);
  return {avg_pool2d(x, window, {.stride = window})};
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
    {"aten.outer.default", "self, vec2",
     [](const Arguments& of) -> Values {
       return {of.tensor(0).unsqueeze(1) * of.tensor(1).unsqueeze(0)};
     }},
    {"aten.linear.default", "input, weight, bias=None", linear_of},
    {"aten.addmm.default", "self, mat1, mat2, beta=1, alpha=1", added_product},
    {"aten.baddbmm.default", "self, batch1, batch2, beta=1, alpha=1", added_product},
    {"aten.convolution.default",
     "input, weight, bias, stride, padding, dilation, transposed, output_padding, groups",
     core_convolution},
    {"aten.conv1d.default", "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1",
     plain_convolution},
    {"aten.conv2d.default", "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1",
     plain_convolution},
    {"aten.conv1d.padding",
     "input, weight, bias=None, stride=1, padding='valid', dilation=1, groups=1",
     worded_convolution},
    {"aten.conv2d.padding",
     "input, weight, bias=None, stride=1, padding='valid', dilation=1, groups=1",
     worded_convolution},
    {"aten.max_pool2d.default",
     "self, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=False", max_pool},
    {"aten.max_pool2d_with_indices.default",
     "self, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=False", max_pool},
    {"aten.avg_pool2d.default",
     "self, kernel_size, stride=[], padding=0, ceil_mode=False, count_include_pad=True, "
     "divisor_override=None",
     average_pool},
    {"aten.adaptive_avg_pool2d.default", "self, output_size", adaptive_average_pool},
    {"aten._adaptive_avg_pool2d.default", "self, output_size", adaptive_average_pool},
    {"aten.scaled_dot_product_attention.default",
     "query, key, value, attn_mask=None, dropout_p=0, is_causal=False, scale=None, "
     "enable_gqa=False",
     attention},
};

}  // namespace

std::span<const OpEntry> product_ops() { return kProductsOps; }

}  // namespace luminal::pytorch
