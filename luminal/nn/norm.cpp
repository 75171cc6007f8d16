#include "luminal/nn/norm.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/norm.h"

namespace luminal::nn {
namespace {

Dims last_dims(const Scope& scope, const char* layer, const Tensor& x, int axes) {
  if (axes < 1 || axes > x.rank()) {
    throw UserError(fmt::format("nn::{} '{}': x is {}, so its last {} axes can't be normalised",
                                layer, scope.prefix(), text(x.dims()), axes));
  }
  return Dims(x.dims().end() - axes, x.dims().end());
}

Dims channel_dims(const Scope& scope, const char* layer, const Tensor& x) {
  if (x.rank() < 2) {
    throw UserError(fmt::format("nn::{} '{}': x is {}, but channels are its axis 1", layer,
                                scope.prefix(), text(x.dims())));
  }
  return {x.dim(1)};
}

std::optional<Tensor> weight_if(const Scope& scope, bool there, const char* name,
                                const Dims& dims) {
  if (!there) return std::nullopt;
  return scope.weight(name, dims);
}

}  // namespace

Tensor layer_norm(const Scope& scope, const Tensor& x, const LayerNormOptions& options) {
  Dims dims = last_dims(scope, "layer_norm", x, options.axes);
  return luminal::layer_norm(x, dims, weight_if(scope, options.affine, "weight", dims),
                             weight_if(scope, options.affine && options.bias, "bias", dims),
                             options.eps);
}

Tensor rms_norm(const Scope& scope, const Tensor& x, const RmsNormOptions& options) {
  Dims dims = last_dims(scope, "rms_norm", x, options.axes);
  return luminal::rms_norm(x, dims, weight_if(scope, options.affine, "weight", dims), options.eps);
}

Tensor group_norm(const Scope& scope, const Tensor& x, int groups,
                  const GroupNormOptions& options) {
  Dims dims = channel_dims(scope, "group_norm", x);
  return luminal::group_norm(x, groups, weight_if(scope, options.affine, "weight", dims),
                             weight_if(scope, options.affine, "bias", dims), options.eps);
}

Tensor batch_norm(const Scope& scope, const Tensor& x, const BatchNormOptions& options) {
  Dims dims = channel_dims(scope, "batch_norm", x);
  return luminal::batch_norm(x, scope.weight("running_mean", dims),
                             scope.weight("running_var", dims),
                             weight_if(scope, options.affine, "weight", dims),
                             weight_if(scope, options.affine, "bias", dims), options.eps);
}

}  // namespace luminal::nn
