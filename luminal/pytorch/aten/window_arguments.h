// Arguments of convolutions and pools: lists with a value per spatial axis, or one for all.
#pragma once

#include <vector>

#include "luminal/graph/neural/windows.h"
#include "luminal/pytorch/aten/arguments.h"

namespace luminal::pytorch {

size_t spatial_axes(const Tensor& weight);  // UserError for a weight with none
// One value per axis; `otherwise` for an empty list.
Dims each_axis(const Dims& sizes, size_t axes, Expr otherwise);

// Stride, padding and dilation of a convolution, from this argument on.
ConvNdOptions conv_options(const Arguments& of, const Tensor& weight, size_t first);
ConvNdOptions with_groups(ConvNdOptions options, int groups);

// The windows of the last axes of x.
std::vector<PoolAxis> pool_axes(const Tensor& x, size_t axes, const Dims& kernel,
                                const Dims& stride, const Dims& padding, const Dims& dilation,
                                bool ceil_mode, bool count_include_pad);

// Of (self, kernel_size, stride, padding, ceil_mode, count_include_pad), with self at `first`.
template <size_t kAxes>
std::vector<PoolAxis> average_pool_axes(const Arguments& of, size_t first) {
  return pool_axes(of.tensor(first), kAxes, of.sizes(first + 1), of.sizes(first + 2),
                   of.sizes(first + 3), {}, of.flag(first + 4), of.flag(first + 5));
}

}  // namespace luminal::pytorch
