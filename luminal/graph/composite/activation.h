// Activation functions; f16 and bf16 are computed in f32 and rounded once.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/graph/options.h"
#include "luminal/graph/tensor.h"

namespace luminal {

LUMINAL_API Tensor relu(const Tensor& x);  // max(x, 0); NaN stays
// x·Φ(x) by erf, or by the tanh approximation.
LUMINAL_API Tensor gelu(const Tensor& x, GeluApproximation approximate = GeluApproximation::None);
LUMINAL_API Tensor silu(const Tensor& x);     // x·sigmoid(x)
LUMINAL_API Tensor sigmoid(const Tensor& x);  // 1 / (1 + e^-x)
LUMINAL_API Tensor tanh(const Tensor& x);     // accurate near 0, ±1 at ±inf
LUMINAL_API Tensor softplus(const Tensor& x, const SoftplusOptions& options = {});  // log(1 + e^x)
LUMINAL_API Tensor leaky_relu(const Tensor& x, double negative_slope = 0.01);  // slope·x below 0

}  // namespace luminal
