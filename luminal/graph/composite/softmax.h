// Softmax and log-softmax of floats; f16 and bf16 are computed in f32 and rounded once.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// e^x / Σ e^x along an axis, without overflow.
LUMINAL_API Tensor softmax(const Tensor& x, int axis);
// log(softmax(x)), without the rounding error of a logarithm near 0.
LUMINAL_API Tensor log_softmax(const Tensor& x, int axis);

}  // namespace luminal
