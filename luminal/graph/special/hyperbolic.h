// Exponentials and logarithms near 0, hyperbolic functions and their inverses. Integers and bool
// are taken as f32; results of f16, bf16 and f32 are rounded once.
#pragma once

#include "luminal/graph/tensor.h"

namespace luminal {

Tensor log1p(const Tensor& x);  // log(1 + x), accurate near 0
Tensor expm1(const Tensor& x);  // e^x - 1, accurate near 0
Tensor log10(const Tensor& x);
Tensor sinh(const Tensor& x);
Tensor cosh(const Tensor& x);
Tensor asinh(const Tensor& x);
Tensor acosh(const Tensor& x);  // NaN below 1
Tensor atanh(const Tensor& x);  // ±inf at ±1, NaN beyond

Tensor logaddexp(const Tensor& a, const Tensor& b);   // log(e^a + e^b) without overflow
Tensor logaddexp2(const Tensor& a, const Tensor& b);  // log2(2^a + 2^b) without overflow

}  // namespace luminal
