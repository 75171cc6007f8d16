#include "luminal/pytorch/aten/window_arguments.h"

#include "luminal/base/errors.h"

namespace luminal::pytorch {

size_t spatial_axes(const Tensor& weight) {
  if (weight.rank() < 3 || weight.rank() > 5) {
    throw UserError("its weight has " + std::to_string(weight.rank()) +
                    " dims; one to three spatial axes are supported");
  }
  return static_cast<size_t>(weight.rank() - 2);
}

Dims each_axis(const Dims& sizes, size_t axes, Expr otherwise) {
  if (sizes.empty()) return Dims(axes, otherwise);
  if (sizes.size() == 1) return Dims(axes, sizes[0]);
  if (sizes.size() == axes) return sizes;
  throw UserError("one of its lists has " + std::to_string(sizes.size()) + " values for " +
                  std::to_string(axes) + " axes");
}

ConvNdOptions conv_options(const Arguments& of, const Tensor& weight, size_t first) {
  const size_t axes = spatial_axes(weight);
  return {.stride = each_axis(of.sizes(first), axes, 1),
          .padding = each_axis(of.sizes(first + 1), axes, 0),
          .dilation = each_axis(of.sizes(first + 2), axes, 1)};
}

ConvNdOptions with_groups(ConvNdOptions options, int groups) {
  options.groups = groups;
  return options;
}

std::vector<PoolAxis> pool_axes(const Tensor& x, size_t axes, const Dims& kernel,
                                const Dims& stride, const Dims& padding, const Dims& dilation,
                                bool ceil_mode, bool count_include_pad) {
  const Dims sizes = each_axis(kernel, axes, 1), pads = each_axis(padding, axes, 0);
  const Dims steps = stride.empty() ? sizes : each_axis(stride, axes, 1);
  const Dims gaps = each_axis(dilation, axes, 1);
  if (x.rank() < static_cast<int>(axes)) throw UserError("its tensor has too few dims");
  std::vector<PoolAxis> all;
  for (size_t i = 0; i < axes; ++i) {
    const int axis = static_cast<int>(i) - static_cast<int>(axes);
    all.push_back(
        pool_axis(x.dim(axis), sizes[i], steps[i], pads[i], gaps[i], ceil_mode, count_include_pad));
  }
  return all;
}

}  // namespace luminal::pytorch
