// Convolutions, pools, and windows as columns.
#include "luminal/graph/neural/windows.h"

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/conv.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/primitives.h"
#include "luminal/pytorch/aten/op_table.h"
#include "luminal/pytorch/aten/window_arguments.h"

namespace luminal::pytorch {
namespace {

Tensor convolved(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
                 const ConvNdOptions& options) {
  const size_t axes = options.stride.size();
  if (axes == 1) {
    return conv1d(x, weight, bias,
                  {.stride = options.stride[0],
                   .padding = options.padding[0],
                   .dilation = options.dilation[0],
                   .groups = options.groups});
  }
  if (axes == 2) {
    return conv2d(x, weight, bias,
                  {.stride = {options.stride[0], options.stride[1]},
                   .padding = {options.padding[0], options.padding[1]},
                   .dilation = {options.dilation[0], options.dilation[1]},
                   .groups = options.groups});
  }
  return conv_nd(x, weight, bias, options);
}

Values core_convolution(const Arguments& of) {
  const Tensor x = of.tensor(0), weight = of.tensor(1);
  const ConvNdOptions options = conv_options(of, weight, 3);
  const int groups = of.integer(8);
  if (!of.flag(6)) {
    return {convolved(x, weight, of.maybe_tensor(2), with_groups(options, groups))};
  }
  return {conv_transpose_nd(x, weight, of.maybe_tensor(2), with_groups(options, groups),
                            each_axis(of.sizes(7), options.stride.size(), 0))};
}

Values plain_convolution(const Arguments& of) {
  const Tensor weight = of.tensor(1);
  return {convolved(of.tensor(0), weight, of.maybe_tensor(2),
                    with_groups(conv_options(of, weight, 3), of.integer(6)))};
}

// (input, weight, bias, stride, padding, output_padding, groups, dilation)
Values transposed_convolution(const Arguments& of) {
  const Tensor weight = of.tensor(1);
  const size_t axes = spatial_axes(weight);
  const ConvNdOptions options{.stride = each_axis(of.sizes(3), axes, 1),
                              .padding = each_axis(of.sizes(4), axes, 0),
                              .dilation = each_axis(of.sizes(7), axes, 1),
                              .groups = of.integer(6)};
  return {conv_transpose_nd(of.tensor(0), weight, of.maybe_tensor(2), options,
                            each_axis(of.sizes(5), axes, 0))};
}

// With padding 'valid', or 'same': the larger half of an odd one is at the end.
Values worded_convolution(const Arguments& of) {
  Tensor x = of.tensor(0);
  const Tensor weight = of.tensor(1);
  const size_t axes = spatial_axes(weight);
  ConvNdOptions options{.stride = each_axis(of.sizes(3), axes, 1),
                        .padding = Dims(axes, Expr(0)),
                        .dilation = each_axis(of.sizes(5), axes, 1),
                        .groups = of.integer(6)};
  if (of.word(4) == "same") {
    for (size_t i = 0; i < axes; ++i) {
      const int axis = static_cast<int>(i) - static_cast<int>(axes);
      const Expr total = options.dilation[i] * (weight.dim(axis) - 1);
      options.padding[i] = total / 2;
      const Expr more = total - 2 * options.padding[i];
      if (!more.is(0)) x = pad_axis(x, axis, {.before = 0, .after = more});
    }
  } else if (of.word(4) != "valid") {
    throw UserError("its padding is '" + of.word(4) + "'; valid and same are known");
  }
  return {convolved(x, weight, of.maybe_tensor(2), options)};
}

// (self, kernel_size, stride, padding, dilation, ceil_mode)
std::vector<PoolAxis> max_pool_axes(const Arguments& of, size_t axes) {
  return pool_axes(of.tensor(0), axes, of.sizes(1), of.sizes(2), of.sizes(3), of.sizes(4),
                   of.flag(5), true);
}

// Plain ones are seen as such by the rules.
template <size_t kAxes>
Values max_pool_values(const Arguments& of) {
  bool plain = kAxes == 2 && !of.flag(5);
  for (Expr dilation : of.sizes(4)) plain = plain && dilation.is(1);
  if (!plain) return {max_pool_nd(of.tensor(0), max_pool_axes(of, kAxes)).values};
  const Dims kernel = each_axis(of.sizes(1), 2, 1), padding = each_axis(of.sizes(3), 2, 0);
  const Dims stride = of.sizes(2).empty() ? kernel : each_axis(of.sizes(2), 2, 1);
  return {max_pool2d(of.tensor(0), {kernel[0], kernel[1]},
                     {.stride = Size2(stride[0], stride[1]), .padding = {padding[0], padding[1]}})};
}

template <size_t kAxes>
Values max_pool_with_places(const Arguments& of) {
  const Tensor indices = max_pool_nd(of.tensor(0), max_pool_axes(of, kAxes)).indices;
  return {max_pool_values<kAxes>(of)[0], indices};
}

template <size_t kAxes>
Values average_pool(const Arguments& of) {
  const auto axes = average_pool_axes<kAxes>(of, 0);
  std::optional<Expr> divisor;
  if (kAxes > 1) divisor = of.maybe_size(6);
  if (divisor && divisor->is(0)) throw UserError("its divisor is 0");
  return {avg_pool_nd(of.tensor(0), axes, divisor)};
}

template <size_t kAxes>
std::vector<PoolAxis> adaptive_axes(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const Dims sizes = each_axis(of.sizes(1), kAxes, 1);
  std::vector<PoolAxis> axes;
  for (size_t i = 0; i < kAxes; ++i) {
    const int axis = static_cast<int>(i) - static_cast<int>(kAxes);
    axes.push_back(adaptive_axis(x.dim(axis), sizes[i].is(-1) ? x.dim(axis) : sizes[i]));
  }
  return axes;
}

template <size_t kAxes>
Values adaptive_average(const Arguments& of) {
  const Tensor x = of.tensor(0);
  std::vector<int> all;
  bool whole = true;
  for (size_t i = 0; i < kAxes; ++i) {
    all.push_back(-1 - static_cast<int>(i));
    whole = whole && each_axis(of.sizes(1), kAxes, 1)[i].is(1);
  }
  if (whole) return {mean(x, all, {.keepdim = true})};
  return {avg_pool_nd(x, adaptive_axes<kAxes>(of))};
}

template <size_t kAxes>
Values adaptive_maximum(const Arguments& of) {
  const Pooled found = max_pool_nd(of.tensor(0), adaptive_axes<kAxes>(of));
  return {found.values, found.indices};
}

// (self, kernel_size, dilation, padding, stride): [n, c·kernel, positions]
Values as_columns(const Arguments& of) {
  Tensor x = of.tensor(0);
  const bool single = x.rank() == 3;
  if (single) x = x.unsqueeze(0);
  const Dims kernel = each_axis(of.sizes(1), 2, 1), dilation = each_axis(of.sizes(2), 2, 1);
  const Dims padding = each_axis(of.sizes(3), 2, 0), stride = each_axis(of.sizes(4), 2, 1);
  Tensor y = x;
  for (int i = 0; i < 2; ++i) {
    y = pad_axis(y, 2 + i, {padding[composite::at(i)], padding[composite::at(i)]});
  }
  for (int i = 0; i < 2; ++i) {
    const size_t axis = composite::at(i);
    y = y.unfold(2 + i, kernel[axis], stride[axis], dilation[axis]);
  }
  y = y.permute({0, 1, 4, 5, 2, 3}).merge_dims(1, 3).merge_dims(2, 2);
  return {single ? y.squeeze(0) : y};
}

// (self, output_size, kernel_size, dilation, padding, stride): the sum over what fell on each place
Values from_columns(const Arguments& of) {
  Tensor x = of.tensor(0);
  const bool single = x.rank() == 2;
  if (single) x = x.unsqueeze(0);
  const Dims size = each_axis(of.sizes(1), 2, 1), kernel = each_axis(of.sizes(2), 2, 1);
  const Dims dilation = each_axis(of.sizes(3), 2, 1), padding = each_axis(of.sizes(4), 2, 0);
  const Dims stride = each_axis(of.sizes(5), 2, 1);
  Dims places;
  for (size_t i = 0; i < 2; ++i) {
    places.push_back((size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] +
                     1);
  }
  const Expr channels = x.dim(1) / (kernel[0] * kernel[1]);
  const DType dtype = x.dtype();
  Tensor y = x.cast(is_half(dtype) ? DType::F32 : dtype)
                 .reshape({x.dim(0), channels, kernel[0], kernel[1], places[0], places[1]});
  // [n, c, k₀, k₁, p₀, p₁] → [n, c, k₁, p₁, size₀] → [n, c, size₀, size₁]
  y = y.permute({0, 1, 3, 5, 2, 4});
  for (size_t i = 0; i < 2; ++i) {
    Tensor spread = y.unsqueeze(-3);
    Dims dims = spread.dims();
    const int rank = static_cast<int>(dims.size());
    dims[dims.size() - 3] = size[i];
    const Expr h = Expr::index(rank - 3, size[i]) + padding[i];
    const Expr k = Expr::index(rank - 2, kernel[i]), p = Expr::index(rank - 1, places[i]);
    const Expr from = p * stride[i] + k * dilation[i];
    const Tensor here = prim::iota(x.graph(), h >= from && from >= h, dims, DType::Bool);
    const Tensor held = where(here, spread.expand(dims), 0);
    y = prim::reduce(held.merge_dims(rank - 2, 2), Reducer::Sum);  // [… size₀]
    if (i == 0) y = y.permute({0, 1, 4, 2, 3});
  }
  y = y.cast(dtype);
  return {single ? y.squeeze(0) : y};
}

// (self, indices, output_size): each element to its place, zeros elsewhere
template <size_t kAxes>
Values unpooled(const Arguments& of) {
  const Tensor x = of.tensor(0), indices = of.tensor(1).cast(DType::I64);
  const Dims size = of.sizes(2);
  const int first = x.rank() - static_cast<int>(kAxes);
  Dims dims(x.dims().begin(), x.dims().begin() + first), planes = dims;
  Expr plane = 1;
  for (Expr each : size) {
    dims.push_back(each);
    plane = plane * each;
  }
  planes.push_back(plane);
  const Tensor flat = x.flatten(first), places = indices.flatten(first);
  return {scatter(full(of.graph(), planes, 0, x.dtype()), first, places, flat).reshape(dims)};
}

constexpr OpEntry kWindowOps[] = {
    {"aten.convolution.default",
     "input, weight, bias, stride, padding, dilation, transposed, output_padding, groups",
     core_convolution},
    {"aten.conv1d.default", "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1",
     plain_convolution},
    {"aten.conv2d.default", "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1",
     plain_convolution},
    {"aten.conv3d.default", "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1",
     plain_convolution},
    {"aten.conv1d.padding",
     "input, weight, bias=None, stride=1, padding='valid', dilation=1, groups=1",
     worded_convolution},
    {"aten.conv2d.padding",
     "input, weight, bias=None, stride=1, padding='valid', dilation=1, groups=1",
     worded_convolution},
    {"aten.conv3d.padding",
     "input, weight, bias=None, stride=1, padding='valid', dilation=1, groups=1",
     worded_convolution},
    {"aten.conv_transpose1d.default",
     "input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1",
     transposed_convolution},
    {"aten.conv_transpose2d.input",
     "input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1",
     transposed_convolution},
    {"aten.conv_transpose3d.input",
     "input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1",
     transposed_convolution},
    {"aten.max_pool1d.default",
     "self, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=False", max_pool_values<1>},
    {"aten.max_pool1d_with_indices.default",
     "self, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=False",
     max_pool_with_places<1>},
    {"aten.max_pool2d.default",
     "self, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=False", max_pool_values<2>},
    {"aten.max_pool2d_with_indices.default",
     "self, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=False",
     max_pool_with_places<2>},
    {"aten.max_pool3d.default",
     "self, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=False", max_pool_values<3>},
    {"aten.max_pool3d_with_indices.default",
     "self, kernel_size, stride=[], padding=0, dilation=1, ceil_mode=False",
     max_pool_with_places<3>},
    {"aten.avg_pool1d.default",
     "self, kernel_size, stride=[], padding=0, ceil_mode=False, count_include_pad=True",
     average_pool<1>},
    {"aten.avg_pool2d.default",
     "self, kernel_size, stride=[], padding=0, ceil_mode=False, count_include_pad=True, "
     "divisor_override=None",
     average_pool<2>},
    {"aten.avg_pool3d.default",
     "self, kernel_size, stride=[], padding=0, ceil_mode=False, count_include_pad=True, "
     "divisor_override=None",
     average_pool<3>},
    {"aten.adaptive_avg_pool1d.default", "self, output_size", adaptive_average<1>},
    {"aten.adaptive_avg_pool2d.default", "self, output_size", adaptive_average<2>},
    {"aten._adaptive_avg_pool2d.default", "self, output_size", adaptive_average<2>},
    {"aten.adaptive_avg_pool3d.default", "self, output_size", adaptive_average<3>},
    {"aten._adaptive_avg_pool3d.default", "self, output_size", adaptive_average<3>},
    {"aten.adaptive_max_pool1d.default", "self, output_size", adaptive_maximum<1>},
    {"aten.adaptive_max_pool2d.default", "self, output_size", adaptive_maximum<2>},
    {"aten.adaptive_max_pool3d.default", "self, output_size", adaptive_maximum<3>},
    {"aten.im2col.default", "self, kernel_size, dilation, padding, stride", as_columns},
    {"aten.col2im.default", "self, output_size, kernel_size, dilation, padding, stride",
     from_columns},
    {"aten.max_unpool2d.default", "self, indices, output_size", unpooled<2>},
    {"aten.max_unpool3d.default", "self, indices, output_size, stride, padding", unpooled<3>},
};

}  // namespace

std::span<const OpEntry> window_ops() { return kWindowOps; }

}  // namespace luminal::pytorch
