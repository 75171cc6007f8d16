#include "luminal/nn/linear.h"

#include <fmt/format.h>

#include <optional>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/quantised.h"

namespace luminal::nn {
namespace {

void check_rank(const Scope& scope, const char* layer, const Tensor& x, int low, int high) {
  if (x.rank() >= low && x.rank() <= high) return;
  throw UserError(fmt::format("nn::{} '{}': x is {}, but it takes {} to {} dims", layer,
                              scope.prefix(), text(x.dims()), low, high));
}

// Input channels per group.
Expr group_channels(const Scope& scope, const char* layer, Expr channels, int groups) {
  if (groups >= 1 && (channels % groups).is(0)) return channels / groups;
  throw UserError(fmt::format("nn::{} '{}': {} input channels don't divide into {} groups", layer,
                              scope.prefix(), channels.text(), groups));
}

std::optional<Tensor> bias_of(const Scope& scope, bool has_bias, int64_t size) {
  if (!has_bias) return std::nullopt;
  return scope.weight("bias", {size});
}

}  // namespace

Tensor linear(const Scope& scope, const Tensor& x, int64_t out_features,
              const LinearOptions& options) {
  check_rank(scope, "linear", x, 1, 10);
  Tensor weight = scope.weight("weight", {out_features, x.dim(-1)});
  Tensor y = matmul(x, weight.t());
  if (options.bias) y += scope.weight("bias", {out_features});
  return y;
}

Tensor conv1d(const Scope& scope, const Tensor& x, int64_t out_channels, int64_t kernel,
              const Conv1dOptions& options) {
  check_rank(scope, "conv1d", x, 2, 3);
  Expr channels = group_channels(scope, "conv1d", x.dim(-2), options.groups);
  Tensor weight = scope.weight("weight", {out_channels, channels, kernel});
  return luminal::conv1d(x, weight, bias_of(scope, options.bias, out_channels),
                         {.stride = options.stride,
                          .padding = options.padding,
                          .dilation = options.dilation,
                          .groups = options.groups});
}

Tensor conv2d(const Scope& scope, const Tensor& x, int64_t out_channels, const Size2& kernel,
              const Conv2dOptions& options) {
  check_rank(scope, "conv2d", x, 3, 4);
  Expr channels = group_channels(scope, "conv2d", x.dim(-3), options.groups);
  Tensor weight = scope.weight("weight", {out_channels, channels, kernel.h, kernel.w});
  return luminal::conv2d(x, weight, bias_of(scope, options.bias, out_channels),
                         {.stride = options.stride,
                          .padding = options.padding,
                          .dilation = options.dilation,
                          .groups = options.groups});
}

Tensor embedding(const Scope& scope, const Tensor& index, int64_t n, int64_t features) {
  if (std::optional<Quantised> table = scope.quantised("weight", {n, features})) {
    return luminal::embedding(*table, index).cast(scope.dtype());
  }
  return luminal::embedding(scope.weight("weight", {n, features}), index);
}

}  // namespace luminal::nn
