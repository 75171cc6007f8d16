#include "luminal/graph/composite/conv.h"

#include <fmt/format.h>

#include <limits>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/neural/windows.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/primitives.h"

namespace luminal {

using composite::at;

namespace {

// Window parameters along one spatial axis.
struct AxisWindow {
  Expr kernel;
  Expr stride;
  Expr padding;
  Expr dilation;
};
using Windows = std::vector<AxisWindow>;

void check_input(std::string_view op, const Tensor& x, int spatial) {
  if (x.rank() == spatial + 1 || x.rank() == spatial + 2) return;
  throw UserError(
      fmt::format("{}: x must be [n, channels, …] or [channels, …] with {} spatial axes, "
                  "but is {}; reshape it",
                  op, spatial, text(x.dims())));
}

// im2col: the windows of x's trailing axes, padded with `value`: [… positions…, kernel…].
Tensor unfold_windows(std::string_view op, const Tensor& x, const Windows& windows,
                      const Scalar& value) {
  const int spatial = static_cast<int>(windows.size());
  const int first = x.rank() - spatial;
  std::vector<Padding> paddings(at(x.rank()));
  for (int i = 0; i < spatial; ++i) {
    const AxisWindow& window = windows[at(i)];
    const Expr padded = x.dim(first + i) + 2 * window.padding;
    const Expr reach = (window.kernel - 1) * window.dilation + 1;
    if (known_less(padded, reach) || window.stride.upper_bound() < 1 ||
        window.dilation.upper_bound() < 1 || window.padding.upper_bound() < 0) {
      throw UserError(fmt::format(
          "{}: a kernel of {} (dilation {}, stride {}, padding {}) doesn't fit axis {} of {}; pad "
          "more or use a smaller one",
          op, window.kernel.text(), window.dilation.text(), window.stride.text(),
          window.padding.text(), first + i, text(x.dims())));
    }
    paddings[at(first + i)] = {window.padding, window.padding};
  }
  Tensor result = pad(x, paddings, value);
  for (int i = 0; i < spatial; ++i) {
    const AxisWindow& window = windows[at(i)];
    result = result.unfold(first + i, window.kernel, window.stride, window.dilation);
  }
  return result;
}

void check_weights(std::string_view op, const Tensor& x, const Tensor& weight,
                   const std::optional<Tensor>& bias, int groups) {
  const Expr channels = x.dim(1);
  const Expr out = weight.dim(0);
  if (weight.dtype() != x.dtype() || (bias && bias->dtype() != x.dtype())) {
    throw UserError(fmt::format("{}: x is {}, weight is {}; cast one of them", op, name(x.dtype()),
                                name(weight.dtype())));
  }
  if (groups < 1 || !(channels % groups).is(0) || !(out % groups).is(0) ||
      weight.dim(1) != channels / groups) {
    throw UserError(
        fmt::format("{}: {} channels in {} groups need a weight [out, {}, …], out a multiple of "
                    "{}, but it is {}; check its layout and groups",
                    op, channels.text(), groups, groups < 1 ? "?" : (channels / groups).text(),
                    groups, text(weight.dims())));
  }
  if (bias && !same_dims(bias->dims(), {out})) {
    throw UserError(fmt::format("{}: bias must be [{}], but is {}; reshape it", op, out.text(),
                                text(bias->dims())));
  }
}

// A GEMM on im2col patches: one Sum over the merged innermost axis (channel, kernel…) of patches
// times weights, both as [n, group, out / groups, positions…, channels / groups · kernel…].
Tensor convolve(std::string_view op, const Tensor& x, const Tensor& weight, const Windows& windows,
                int groups) {
  const int spatial = static_cast<int>(windows.size());
  const Expr channels = x.dim(1) / groups;
  const Expr out = weight.dim(0) / groups;
  // [n, g, c, positions…, kernel…] → [n, g, positions…, c · kernel…] → a new axis for `out`.
  Tensor patches = unfold_windows(op, x, windows, 0).split_dims(1, {groups, channels});
  std::vector<int> order = {0, 1};
  for (int i = 0; i < spatial; ++i) order.push_back(3 + i);
  order.push_back(2);
  for (int i = 0; i < spatial; ++i) order.push_back(3 + spatial + i);
  patches = patches.permute(order).merge_dims(2 + spatial, 1 + spatial).unsqueeze(2);
  Dims dims = patches.dims();
  dims[2] = out;

  Tensor taps = weight.flatten(1).split_dims(0, {groups, out});
  for (int i = 0; i < spatial; ++i) taps = taps.unsqueeze(2);
  const Tensor product =
      prim::mul(composite::expand_to(patches, dims), composite::expand_to(taps, dims));
  return prim::reduce(product, Reducer::Sum).merge_dims(1);
}

Tensor conv(std::string_view op, const Tensor& x, const Tensor& weight,
            const std::optional<Tensor>& bias, const Windows& windows, int groups) {
  const int spatial = static_cast<int>(windows.size());
  check_input(op, x, spatial);
  if (x.rank() == spatial + 1) {
    return conv(op, x.unsqueeze(0), weight, bias, windows, groups).squeeze(0);
  }
  check_weights(op, x, weight, bias, groups);
  if (x.dtype() == DType::Bool) {
    throw UserError(fmt::format("{}: bool isn't supported; cast both sides to i64 or f32", op));
  }
  const DType dtype = x.dtype();
  const DType compute = is_float(dtype) ? composite::compute_dtype(dtype) : dtype;
  Tensor result = convolve(op, x.cast(compute), weight.cast(compute), windows, groups);
  if (bias) {
    Tensor shift = bias->cast(compute);
    for (int i = 0; i < spatial; ++i) shift = shift.unsqueeze(-1);
    result = result + shift;
  }
  return result.cast(dtype);
}

void check_kernel(std::string_view op, const Tensor& weight, int spatial) {
  if (weight.rank() == spatial + 2) return;
  throw UserError(
      fmt::format("{}: weight must be [out, channels / groups, kernel…] with {} axes, "
                  "but is {}; reshape it",
                  op, spatial + 2, text(weight.dims())));
}

void check_pool(std::string_view op, const Tensor& x, const Windows& windows) {
  check_input(op, x, static_cast<int>(windows.size()));
  for (const AxisWindow& window : windows) {
    if (known_less(window.kernel, 2 * window.padding)) {
      throw UserError(
          fmt::format("{}: padding {} is more than half the kernel {}; pad the input "
                      "itself first",
                      op, window.padding.text(), window.kernel.text()));
    }
  }
}

// Reduces each window over its kernel axes, merged into one.
Tensor reduce_windows(std::string_view op, const Tensor& x, const Windows& windows,
                      const Scalar& value, Reducer reducer) {
  const Tensor unfolded = unfold_windows(op, x, windows, value);
  return prim::reduce(unfolded.merge_dims(x.rank(), static_cast<int>(windows.size())), reducer);
}

// The lowest value of a dtype: the maximum of no elements.
Scalar lowest(DType dtype) {
  if (is_float(dtype)) return -std::numeric_limits<double>::infinity();
  if (is_unsigned(dtype)) return 0;
  return std::numeric_limits<int64_t>::min() >> (64 - bits(dtype));
}

Tensor max_pool(std::string_view op, const Tensor& x, const Windows& windows) {
  check_pool(op, x, windows);
  return reduce_windows(op, x, windows, lowest(x.dtype()), Reducer::Max);
}

// How many elements of the unpadded input each window covers.
Tensor covered(const Tensor& x, const Dims& positions, const Windows& windows, DType dtype) {
  Expr count = 1;
  const int first = x.rank() - static_cast<int>(windows.size());
  for (size_t i = 0; i < windows.size(); ++i) {
    const AxisWindow& window = windows[i];
    const int axis = first + static_cast<int>(i);
    const Expr start = Expr::index(axis, positions[at(axis)]) * window.stride - window.padding;
    count = count * (min(start + window.kernel, x.dim(axis)) - max(start, 0));
  }
  return prim::iota(x.graph(), count, positions, dtype);
}

Tensor avg_pool(std::string_view op, const Tensor& x, const Windows& windows,
                bool count_include_pad) {
  composite::check_float(op, x);
  check_pool(op, x, windows);
  return composite::in_compute_dtype(x, [&](const Tensor& v) {
    const Tensor total = reduce_windows(op, v, windows, 0, Reducer::Sum);
    if (!count_include_pad) {
      return total / covered(x, Dims(total.dims()), windows, v.dtype());
    }
    Expr count = 1;
    for (const AxisWindow& window : windows) count = count * window.kernel;
    return total / count;
  });
}

Windows pool_windows(Expr kernel, const Pool1dOptions& options) {
  return {{kernel, options.stride.value_or(kernel), options.padding, 1}};
}

Windows pool_windows(const Size2& kernel, const Pool2dOptions& options) {
  const Size2 stride = options.stride.value_or(kernel);
  return {{kernel.h, stride.h, options.padding.h, 1}, {kernel.w, stride.w, options.padding.w, 1}};
}

}  // namespace

Tensor conv1d(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
              const Conv1dOptions& options) {
  check_kernel("conv1d", weight, 1);
  const Windows windows = {{weight.dim(2), options.stride, options.padding, options.dilation}};
  return conv("conv1d", x, weight, bias, windows, options.groups);
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
              const Conv2dOptions& options) {
  check_kernel("conv2d", weight, 2);
  const Windows windows = {
      {weight.dim(2), options.stride.h, options.padding.h, options.dilation.h},
      {weight.dim(3), options.stride.w, options.padding.w, options.dilation.w}};
  return conv("conv2d", x, weight, bias, windows, options.groups);
}

Tensor conv_nd(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
               const ConvNdOptions& options) {
  const int spatial = weight.rank() - 2;
  check_kernel("conv", weight, static_cast<int>(options.stride.size()));
  Windows windows;
  for (int i = 0; i < spatial; ++i) {
    windows.push_back({weight.dim(2 + i), options.stride[at(i)], options.padding[at(i)],
                       options.dilation[at(i)]});
  }
  return conv("conv", x, weight, bias, windows, options.groups);
}

Tensor max_pool1d(const Tensor& x, Expr kernel, const Pool1dOptions& options) {
  return max_pool("max_pool1d", x, pool_windows(kernel, options));
}

Tensor max_pool2d(const Tensor& x, const Size2& kernel, const Pool2dOptions& options) {
  return max_pool("max_pool2d", x, pool_windows(kernel, options));
}

Tensor avg_pool1d(const Tensor& x, Expr kernel, const Pool1dOptions& options) {
  return avg_pool("avg_pool1d", x, pool_windows(kernel, options), options.count_include_pad);
}

Tensor avg_pool2d(const Tensor& x, const Size2& kernel, const Pool2dOptions& options) {
  return avg_pool("avg_pool2d", x, pool_windows(kernel, options), options.count_include_pad);
}

}  // namespace luminal
