// Softmax and its logarithm, of floats; f16 and bf16 compute in f32 and round once.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// e^x / Σ e^x along an axis, without overflow.
LUMINAL_API Tensor softmax(const Tensor& x, int axis);
// log(softmax(x)), without the rounding of a logarithm near 0.
LUMINAL_API Tensor log_softmax(const Tensor& x, int axis);

}  // namespace luminal
