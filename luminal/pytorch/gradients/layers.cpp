// Gradients of normalisations, convolutions, pools and attention.
#include <cmath>
#include <limits>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/attention.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/operands/limits.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/primitives.h"
#include "luminal/pytorch/aten/op_table.h"
#include "luminal/pytorch/aten/window_arguments.h"

namespace luminal::pytorch {
namespace {

// Which of the results are wanted: a list of bools, or all where there is none.
std::vector<bool> wanted(const Arguments& of, size_t i) {
  std::vector<bool> all;
  for (const Value& each : of.list(i)) {
    const auto* flag = std::get_if<bool>(&each.value);
    const auto* number = std::get_if<Expr>(&each.value);
    all.push_back(flag != nullptr ? *flag : number != nullptr && !number->is(0));
  }
  if (all.size() != 3) throw UserError("its output mask doesn't have three flags");
  return all;
}

Value when(bool is_wanted, const Tensor& value) { return is_wanted ? Value(value) : Value(); }

// The gradient through (x - mean)·rstd over `axes`: rstd·(g - mean(g) - y·mean(g·y)).
Tensor normalised_gradient(const Tensor& grad, const Tensor& normal, const Tensor& rstd,
                           const Axes& axes) {
  const Tensor level = mean(grad, axes, {.keepdim = true});
  const Tensor slope = mean(grad * normal, axes, {.keepdim = true});
  return (grad - level - normal * slope) * rstd;
}

// (grad, input, normalized_shape, mean, rstd, weight, bias, output_mask)
Values layer_norm_gradient(const Arguments& of) {
  const Tensor x = of.tensor(1);
  const DType dtype = x.dtype(), compute = composite::compute_dtype(dtype);
  const Tensor grad = of.tensor(0).cast(compute);
  const auto weight = of.maybe_tensor(5);
  const int own = static_cast<int>(of.sizes(2).size()), outer = x.rank() - own;
  std::vector<int> inner_axes, outer_axes;
  for (int i = 0; i < x.rank(); ++i) (i < outer ? outer_axes : inner_axes).push_back(i);
  const Tensor rstd = of.tensor(4).cast(compute);
  const Tensor normal = (x.cast(compute) - of.tensor(3).cast(compute)) * rstd;
  const Tensor scaled = weight ? grad * weight->cast(compute) : grad;
  const auto over_rows = [&](const Tensor& each) {
    return (outer_axes.empty() ? each : sum(each, outer_axes))
        .cast(weight ? weight->dtype() : dtype);
  };
  const std::vector<bool> mask = wanted(of, 7);
  return {when(mask[0], normalised_gradient(scaled, normal, rstd, inner_axes).cast(dtype)),
          when(mask[1] && weight, over_rows(grad * normal)), when(mask[2], over_rows(grad))};
}

// (grad, input, mean [n, groups], rstd, weight, N, C, HxW, group, output_mask)
Values group_norm_gradient(const Arguments& of) {
  const Tensor x = of.tensor(1);
  const DType dtype = x.dtype(), compute = composite::compute_dtype(dtype);
  const Expr n = of.size(5), channels = of.size(6), places = of.size(7), groups = of.size(8);
  const Dims apart = {n, groups, channels / groups, places};
  const auto weight = of.maybe_tensor(4);
  const Tensor grad = of.tensor(0).cast(compute).reshape(apart);
  const Tensor rstd = of.tensor(3).cast(compute).reshape({n, groups, 1, 1});
  const Tensor centre = of.tensor(2).cast(compute).reshape({n, groups, 1, 1});
  const Tensor normal = (x.cast(compute).reshape(apart) - centre) * rstd;
  Tensor scaled = grad;
  if (weight) scaled = grad * weight->cast(compute).reshape({1, groups, channels / groups, 1});
  const auto over_places = [&](const Tensor& each) {
    return sum(each, {0, 3}).flatten().cast(weight ? weight->dtype() : dtype);
  };
  const std::vector<bool> mask = wanted(of, 9);
  return {
      when(mask[0],
           normalised_gradient(scaled, normal, rstd, {2, 3}).reshape(Dims(x.dims())).cast(dtype)),
      when(mask[1] && weight, over_places(grad * normal)), when(mask[2], over_places(grad))};
}

// (grad, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask)
Values batch_norm_gradient(const Arguments& of) {
  const Tensor x = of.tensor(1);
  const DType dtype = x.dtype(), compute = composite::compute_dtype(dtype);
  const bool train = of.flag(7);
  const auto weight = of.maybe_tensor(2);
  const auto per_channel = [&](const Tensor& each) {
    Tensor result = each.cast(compute);
    for (int i = 2; i < x.rank(); ++i) result = result.unsqueeze(-1);
    return result;
  };
  std::vector<int> axes;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != 1) axes.push_back(i);
  }
  const Tensor centre = per_channel(of.tensor(train ? 5 : 3));
  const Tensor rstd =
      train ? per_channel(of.tensor(6)) : rsqrt(per_channel(of.tensor(4)) + of.real(8));
  const Tensor grad = of.tensor(0).cast(compute);
  const Tensor normal = (x.cast(compute) - centre) * rstd;
  const Tensor scaled = weight ? grad * per_channel(*weight) : grad;
  const Tensor back = train ? normalised_gradient(scaled, normal, rstd, axes) : scaled * rstd;
  const DType of_weight = weight ? weight->dtype() : dtype;
  const std::vector<bool> mask = wanted(of, 9);
  return {when(mask[0], back.cast(dtype)), when(mask[1], sum(grad * normal, axes).cast(of_weight)),
          when(mask[2], sum(grad, axes).cast(of_weight))};
}

// (grad, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups,
// output_mask)
Values convolution_gradient(const Arguments& of) {
  const Tensor x = of.tensor(1), weight = of.tensor(2);
  const DType dtype = x.dtype(), compute = composite::compute_dtype(dtype);
  const Tensor grad = of.tensor(0).cast(compute), input = x.cast(compute);
  const Tensor taps = weight.cast(compute);
  const ConvNdOptions options = with_groups(conv_options(of, weight, 4), of.integer(9));
  const size_t axes = options.stride.size();
  if (x.rank() != static_cast<int>(axes) + 2) throw UserError("its input has no batch");
  const std::vector<bool> mask = wanted(of, 10);
  std::vector<int> all_but_channels = {0};
  for (size_t i = 0; i < axes; ++i) all_but_channels.push_back(static_cast<int>(i) + 2);
  Tensor to_input, to_weight;
  if (of.flag(7)) {
    to_input = conv_nd(grad, taps, std::nullopt, options);
    to_weight = conv_weight_gradient(input, grad, Dims(weight.dims()), options);
  } else {
    // What the strides didn't reach at the end of the input.
    Dims rest;
    for (size_t i = 0; i < axes; ++i) {
      const int axis = static_cast<int>(i) + 2;
      rest.push_back(x.dim(axis) -
                     ((grad.dim(axis) - 1) * options.stride[i] - 2 * options.padding[i] +
                      options.dilation[i] * (weight.dim(axis) - 1) + 1));
    }
    to_input = conv_transpose_nd(grad, taps, std::nullopt, options, rest);
    to_weight = conv_weight_gradient(grad, input, Dims(weight.dims()), options);
  }
  return {when(mask[0], to_input.cast(dtype)), when(mask[1], to_weight.cast(dtype)),
          when(mask[2], sum(grad, all_but_channels).cast(dtype))};
}

// Each element of the gradient to the place of its window's maximum.
template <size_t kAxes>
Tensor added_at_places(const Tensor& grad, const Tensor& x, const Tensor& indices) {
  const int first = x.rank() - static_cast<int>(kAxes);
  const DType dtype = x.dtype(), compute = composite::compute_dtype(dtype);
  Dims planes(x.dims().begin(), x.dims().begin() + first);
  Expr plane = 1;
  for (int i = first; i < x.rank(); ++i) plane = plane * x.dim(i);
  planes.push_back(plane);
  const Tensor zeros = full(x.graph(), planes, 0, compute);
  return scatter_add(zeros, first, indices.cast(DType::I64).flatten(first),
                     grad.cast(compute).flatten(first))
      .reshape(Dims(x.dims()))
      .cast(dtype);
}

template <size_t kAxes>
Values max_pool_gradient(const Arguments& of) {
  return {added_at_places<kAxes>(of.tensor(0), of.tensor(1), of.tensor(7))};
}

template <size_t kAxes>
Values adaptive_max_pool_gradient(const Arguments& of) {
  return {added_at_places<kAxes>(of.tensor(0), of.tensor(1), of.tensor(2))};
}

template <size_t kAxes>
Values average_pool_gradient(const Arguments& of) {
  const auto divisor = of.maybe_size(7);
  return {avg_pool_gradient(of.tensor(0), Dims(of.tensor(1).dims()),
                            average_pool_axes<kAxes>(of, 1), divisor)};
}

template <size_t kAxes>
Values adaptive_average_gradient(const Arguments& of) {
  const Tensor grad = of.tensor(0), x = of.tensor(1);
  std::vector<PoolAxis> axes;
  for (int i = -static_cast<int>(kAxes); i < 0; ++i) {
    axes.push_back(adaptive_axis(x.dim(i), grad.dim(i)));
  }
  return {avg_pool_gradient(grad, Dims(x.dims()), axes)};
}

double scale_of(const Tensor& q, std::optional<double> given) {
  if (given) return *given;
  const auto size = q.dim(-1).to_int();
  if (!size) throw UserError("its head size is chosen by each run: give it a scale");
  return 1 / std::sqrt(static_cast<double>(*size));
}

// Scores of attention with what is masked at -inf.
Tensor scores_of(const Tensor& q, const Tensor& k, bool causal, const std::optional<Tensor>& mask,
                 double scale) {
  Tensor scores = matmul(q, k.t()) * scale;
  if (causal) {
    const Dims dims = scores.dims();
    const int rank = scores.rank();
    const Expr seen =
        Expr::index(rank - 2, dims[dims.size() - 2]) >= Expr::index(rank - 1, dims.back());
    scores = where(prim::iota(q.graph(), seen, dims, DType::Bool), scores, -composite::kInf);
  }
  if (mask && mask->dtype() == DType::Bool) return where(*mask, scores, -composite::kInf);
  return mask ? scores + mask->cast(scores.dtype()) : scores;
}

// (query, key, value, dropout_p, is_causal, attn_mask, scale): with the log of each row's sum
Values flash_attention(const Arguments& of) {
  if (of.real(3) != 0) throw UserError("its dropout_p isn't 0: export the model after eval()");
  const Tensor q = of.tensor(0), k = of.tensor(1), v = of.tensor(2);
  const auto mask = of.maybe_tensor(5);
  const Tensor output = scaled_dot_product_attention(
      q, k, v, {.causal = of.flag(4), .mask = mask, .scale = of.maybe_real(6)});
  const DType compute = composite::compute_dtype(q.dtype());
  const Tensor sums = logsumexp(
      scores_of(q.cast(compute), k.cast(compute), of.flag(4), mask, scale_of(q, of.maybe_real(6))),
      -1);
  return {output, sums};
}

// (grad, query, key, value, out, logsumexp, dropout_p, is_causal, attn_mask, scale)
Values flash_attention_gradient(const Arguments& of) {
  if (of.real(6) != 0) throw UserError("its dropout_p isn't 0, which isn't supported");
  const DType dtype = of.tensor(1).dtype(), compute = composite::compute_dtype(dtype);
  const auto wide = [&](size_t i) { return of.tensor(i).cast(compute); };
  const Tensor grad = wide(0), q = wide(1), k = wide(2), v = wide(3), out = wide(4);
  const double scale = scale_of(q, of.maybe_real(9));
  const Tensor scores = scores_of(q, k, of.flag(7), of.maybe_tensor(8), scale);
  // Rows without a key to attend to have a sum of -inf, and weights of 0.
  const Tensor sums = wide(5).unsqueeze(-1);
  const Tensor weights = where(isfinite(sums), exp(scores - sums), 0.0);
  const Tensor to_values = matmul(weights.t(), grad);
  const Tensor to_weights = matmul(grad, v.t());
  const Tensor level = sum(grad * out, -1, {.keepdim = true});
  const Tensor to_scores = weights * (to_weights - level) * scale;
  return {matmul(to_scores, k).cast(dtype), matmul(to_scores.t(), q).cast(dtype),
          to_values.cast(dtype)};
}

constexpr OpEntry kLayerGradientOps[] = {
    {"aten.native_layer_norm_backward.default",
     "grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask",
     layer_norm_gradient},
    {"aten.native_group_norm_backward.default",
     "grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask", group_norm_gradient},
    {"aten.native_batch_norm_backward.default",
     "grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, "
     "output_mask",
     batch_norm_gradient},
    {"aten.convolution_backward.default",
     "grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, "
     "output_padding, groups, output_mask",
     convolution_gradient},
    {"aten.max_pool2d_with_indices_backward.default",
     "grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices",
     max_pool_gradient<2>},
    {"aten.max_pool3d_with_indices_backward.default",
     "grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices",
     max_pool_gradient<3>},
    {"aten.adaptive_max_pool2d_backward.default", "grad_output, self, indices",
     adaptive_max_pool_gradient<2>},
    {"aten.adaptive_max_pool3d_backward.default", "grad_output, self, indices",
     adaptive_max_pool_gradient<3>},
    {"aten.avg_pool2d_backward.default",
     "grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, "
     "divisor_override",
     average_pool_gradient<2>},
    {"aten.avg_pool3d_backward.default",
     "grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, "
     "divisor_override",
     average_pool_gradient<3>},
    {"aten._adaptive_avg_pool2d_backward.default", "grad_output, self",
     adaptive_average_gradient<2>},
    {"aten._adaptive_avg_pool3d_backward.default", "grad_output, self",
     adaptive_average_gradient<3>},
    {"aten._scaled_dot_product_flash_attention_for_cpu.default",
     "query, key, value, dropout_p=0.0, is_causal=False, attn_mask=None, scale=None",
     flash_attention},
    {"aten._scaled_dot_product_flash_attention_for_cpu_backward.default",
     "grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, attn_mask=None, "
     "scale=None",
     flash_attention_gradient},
};

}  // namespace

std::span<const OpEntry> layer_gradient_ops() { return kLayerGradientOps; }

}  // namespace luminal::pytorch
