// Windows over the trailing axes, of any number of axes: convolutions, also transposed, and pools
// with everything that PyTorch's options ask for.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "luminal/graph/tensor.h"

namespace luminal {

// One value per spatial axis.
struct ConvNdOptions {
  Dims stride, padding, dilation;
  int groups = 1;
};

// Over the axes from the third on; weight is [out, channels / groups, kernel…].
Tensor conv_nd(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
               const ConvNdOptions& options);
// The gradient of conv_nd for its x: weight is [channels, out / groups, kernel…], and each size is
// (in - 1)·stride - 2·padding + dilation·(kernel - 1) + output_padding + 1.
Tensor conv_transpose_nd(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias,
                         const ConvNdOptions& options, const Dims& output_padding);
// The gradient of conv_nd for its weight, whose dims are given; by bias it is a sum.
Tensor conv_weight_gradient(const Tensor& gradient, const Tensor& x, const Dims& weight,
                            const ConvNdOptions& options);

// The windows along one axis: `outputs` of them, each with at most `kernel` elements.
struct PoolAxis {
  Expr size;  // of the axis
  Expr outputs, kernel;
  // Where element k of window o lies, and whether it is one.
  std::function<Expr(Expr o, Expr k)> position, valid;
  // The divisor of avg_pool's window o along this axis.
  std::function<Expr(Expr o)> divisor;
};

// Windows of a fixed size. `ceil_mode`: one that begins inside but ends outside counts too.
PoolAxis pool_axis(Expr size, Expr kernel, Expr stride, Expr padding, Expr dilation, bool ceil_mode,
                   bool count_include_pad = true);
// Windows from ⌊o·size/outputs⌋ to ⌈(o + 1)·size/outputs⌉.
PoolAxis adaptive_axis(Expr size, Expr outputs);

struct Pooled {
  Tensor values;
  Tensor indices;  // i64: of the maximum, in the row-major order of the pooled axes
};

// The first maximum of each window along the trailing axes; the last NaN if there is one.
Pooled max_pool_nd(const Tensor& x, const std::vector<PoolAxis>& axes);
// The mean, or the sum over `divisor`.
Tensor avg_pool_nd(const Tensor& x, const std::vector<PoolAxis>& axes,
                   std::optional<Expr> divisor = std::nullopt);
// The gradient of avg_pool_nd, back to the dims of x.
Tensor avg_pool_gradient(const Tensor& gradient, const Dims& x, const std::vector<PoolAxis>& axes,
                         std::optional<Expr> divisor = std::nullopt);

}  // namespace luminal
