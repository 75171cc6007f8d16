// Normalisations of floats; f16 and bf16 are computed in f32 and rounded once.
#pragma once

#include <optional>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// (x - mean) / √(variance + eps) over the trailing axes, whose dims are `normalized`, then · weight
// + bias, which have the same dims.
LUMINAL_API Tensor layer_norm(const Tensor& x, const Dims& normalized,
                              const std::optional<Tensor>& weight = std::nullopt,
                              const std::optional<Tensor>& bias = std::nullopt, double eps = 1e-5);
// x / √(mean of x² + eps) over the trailing axes, then · weight. Default eps: f32's epsilon, or
// f64's for f64.
LUMINAL_API Tensor rms_norm(const Tensor& x, const Dims& normalized,
                            const std::optional<Tensor>& weight = std::nullopt,
                            std::optional<double> eps = std::nullopt);
// layer_norm over each of `groups` groups of the channels (axis 1); weight and bias are [channels].
LUMINAL_API Tensor group_norm(const Tensor& x, int groups,
                              const std::optional<Tensor>& weight = std::nullopt,
                              const std::optional<Tensor>& bias = std::nullopt, double eps = 1e-5);
// Per channel (axis 1) with the given statistics, as in inference.
LUMINAL_API Tensor batch_norm(const Tensor& x, const Tensor& running_mean,
                              const Tensor& running_var,
                              const std::optional<Tensor>& weight = std::nullopt,
                              const std::optional<Tensor>& bias = std::nullopt, double eps = 1e-5);
// x / max(√Σx², eps) along an axis.
LUMINAL_API Tensor normalize(const Tensor& x, int axis = 1, double eps = 1e-12);

}  // namespace luminal
