// Element-wise functions. Those with fractional results take integers and bool as f32; f16 and bf16
// are computed in f32 and rounded once.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

LUMINAL_API Tensor exp(const Tensor& x);         // e^x
LUMINAL_API Tensor exp2(const Tensor& x);        // 2^x
LUMINAL_API Tensor log(const Tensor& x);         // natural; 0 gives -inf, negative NaN
LUMINAL_API Tensor log2(const Tensor& x);        // to base 2
LUMINAL_API Tensor sin(const Tensor& x);         // of radians
LUMINAL_API Tensor cos(const Tensor& x);         // of radians
LUMINAL_API Tensor tan(const Tensor& x);         // of radians
LUMINAL_API Tensor sqrt(const Tensor& x);        // √x; negative gives NaN
LUMINAL_API Tensor rsqrt(const Tensor& x);       // 1/√x
LUMINAL_API Tensor reciprocal(const Tensor& x);  // 1/x
LUMINAL_API Tensor erf(const Tensor& x);         // the error function

// These keep the dtype.
LUMINAL_API Tensor square(const Tensor& x);  // x·x
LUMINAL_API Tensor abs(const Tensor& x);     // |x|; the minimum of an integer type stays itself
LUMINAL_API Tensor neg(const Tensor& x);     // -x; not for bool
LUMINAL_API Tensor sign(const Tensor& x);    // -1, 0 or 1; NaN gives 0, as in PyTorch
LUMINAL_API Tensor floor(const Tensor& x);   // toward -inf
LUMINAL_API Tensor ceil(const Tensor& x);    // toward +inf
LUMINAL_API Tensor round(const Tensor& x);   // to the nearest integer, halves to even
LUMINAL_API Tensor trunc(const Tensor& x);   // toward 0

// These give bool.
LUMINAL_API Tensor isnan(const Tensor& x);
LUMINAL_API Tensor isinf(const Tensor& x);
LUMINAL_API Tensor isfinite(const Tensor& x);

}  // namespace luminal
