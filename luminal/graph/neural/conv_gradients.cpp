// Transposed convolutions and the gradients of convolutions, of windows.h, as convolutions.
#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/neural/windows.h"
#include "luminal/graph/operands/axes.h"

namespace luminal {

using composite::at;

namespace {

// stride - 1 zeros between the elements of an axis.
Tensor spread_apart(const Tensor& x, int axis, Expr stride) {
  if (stride.is(1)) return x;
  const Tensor pairs =
      pad_axis(x.unsqueeze(axis + 1), axis + 1, {.before = 0, .after = stride - 1});
  return pairs.merge_dims(axis).narrow(axis, 0, (x.dim(axis) - 1) * stride + 1);
}

// [channels, out / groups, kernel…] as the weight of the convolution that undoes it: [out, channels
// / groups, kernel…], mirrored.
Tensor mirrored(const Tensor& weight, int groups) {
  Tensor result = weight.split_dims(0, {Expr(groups), weight.dim(0) / groups});
  result = result.transpose(1, 2).merge_dims(0);
  for (int axis = 2; axis < result.rank(); ++axis) result = result.flip({axis});
  return result;
}

Dims unit_strides(size_t count) { return Dims(count, Expr(1)); }

}  // namespace

Tensor conv_transpose_nd(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
                         const ConvNdOptions& options, const Dims& output_padding) {
  const int spatial = weight.rank() - 2;
  if (x.rank() == spatial + 1) {
    return conv_transpose_nd(x.unsqueeze(0), weight, bias, options, output_padding).squeeze(0);
  }
  if (spatial < 1 || x.rank() != spatial + 2 || options.groups < 1 || weight.dim(0) != x.dim(1) ||
      !(weight.dim(0) % options.groups).is(0)) {
    throw UserError(
        fmt::format("conv_transpose: x is {}, the weight {}; the weight must be "
                    "[channels, out / groups, kernel…]",
                    text(x.dims()), text(weight.dims())));
  }
  Tensor spread = x;
  std::vector<Padding> paddings(x.dims().size());
  for (int i = 0; i < spatial; ++i) {
    spread = spread_apart(spread, 2 + i, options.stride[at(i)]);
    const Expr reach = options.dilation[at(i)] * (weight.dim(2 + i) - 1) - options.padding[at(i)];
    paddings[at(2 + i)] = {.before = reach, .after = reach + output_padding[at(i)]};
  }
  const size_t axes = at(spatial);
  return conv_nd(pad(spread, paddings), mirrored(weight, options.groups), bias,
                 {.stride = unit_strides(axes),
                  .padding = Dims(axes, Expr(0)),
                  .dilation = options.dilation,
                  .groups = options.groups});
}

// Element k of the kernel meets x at stride·p + dilation·k - padding for each place p of the
// gradient: a convolution of x by the gradient with stride and dilation exchanged, where the batch
// is summed over and the channels of x take its place.
Tensor conv_weight_gradient(const Tensor& gradient, const Tensor& x, const Dims& weight,
                            const ConvNdOptions& options) {
  const Expr groups = options.groups;
  const auto with_groups = [&](const Tensor& of) {
    // [n, g·c, …] → [g, n, c, …]
    return of.split_dims(1, {groups, of.dim(1) / groups}).transpose(0, 1);
  };
  // [c, g·n, …] and [g·out, n, …].
  const Tensor input = with_groups(x).merge_dims(0).transpose(0, 1);
  const Tensor kernel = with_groups(gradient).transpose(1, 2).merge_dims(0);
  Tensor result = conv_nd(input, kernel, std::nullopt,
                          {.stride = options.dilation,
                           .padding = options.padding,
                           .dilation = options.stride,
                           .groups = options.groups})
                      .transpose(0, 1);
  for (size_t axis = 2; axis < weight.size(); ++axis) {
    result = result.narrow(static_cast<int>(axis), 0, weight[axis]);
  }
  return result;
}

}  // namespace luminal
