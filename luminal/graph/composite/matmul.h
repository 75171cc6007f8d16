// Matrix products: a broadcast multiplication and a sum over the innermost axis.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// torch.matmul: multiplies the last two axes and broadcasts the others; a 1-D operand is a row or
// column. f16 and bf16 accumulate in f32 and are rounded once; integers wrap.
LUMINAL_API Tensor matmul(const Tensor& a, const Tensor& b);
// The inner product of two 1-D tensors.
LUMINAL_API Tensor dot(const Tensor& a, const Tensor& b);

}  // namespace luminal
