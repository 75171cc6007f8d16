// Normalisation layers.
#pragma once

#include <optional>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"
#include "luminal/nn/scope.h"

namespace luminal::nn {

struct LayerNormOptions {
  double eps = 1e-5;
  int axes = 1;  // number of trailing axes to normalise
  bool affine = true;
  bool bias = true;  // only with affine
};

struct RmsNormOptions {
  std::optional<double> eps = std::nullopt;  // default: the dtype's epsilon
  int axes = 1;                              // number of trailing axes to normalise
  bool affine = true;
};

struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;
};

struct BatchNormOptions {
  double eps = 1e-5;
  bool affine = true;
};

// torch.nn.LayerNorm; weight and bias have the dims of the last `axes` axes.
LUMINAL_API Tensor layer_norm(const Scope& scope, const Tensor& x,
                              const LayerNormOptions& options = {});
// torch.nn.RMSNorm; weight as above.
LUMINAL_API Tensor rms_norm(const Scope& scope, const Tensor& x,
                            const RmsNormOptions& options = {});
// torch.nn.GroupNorm of x [n, channels, …]; weight and bias [channels].
LUMINAL_API Tensor group_norm(const Scope& scope, const Tensor& x, int groups,
                              const GroupNormOptions& options = {});
// torch.nn.BatchNorm1d/2d in eval mode, of x [n, channels, …]: running_mean, running_var, weight
// and bias are [channels]. num_batches_tracked of a state dict isn't used.
LUMINAL_API Tensor batch_norm(const Scope& scope, const Tensor& x,
                              const BatchNormOptions& options = {});

}  // namespace luminal::nn
