// Matrix products, as a sum over the innermost axis of a product.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// torch.matmul: the last two axes multiply, those before broadcast, a 1-D side is a row or column.
// f16 and bf16 sum in f32 and round once; integers wrap.
LUMINAL_API Tensor matmul(const Tensor& a, const Tensor& b);
// The inner product of two 1-D tensors.
LUMINAL_API Tensor dot(const Tensor& a, const Tensor& b);

}  // namespace luminal
