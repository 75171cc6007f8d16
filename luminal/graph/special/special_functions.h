// Special functions of statistics: the error functions and the gamma functions. Integers and bool
// are taken as f32; results of f16, bf16 and f32 are rounded once from f64.
#pragma once

#include "luminal/graph/tensor.h"

namespace luminal {

Tensor erfc(const Tensor& x);      // 1 - erf(x), accurate for large x
Tensor erfcx(const Tensor& x);     // e^(x²)·erfc(x)
Tensor erfinv(const Tensor& x);    // ±inf at ±1, NaN beyond
Tensor ndtri(const Tensor& x);     // the quantile of the normal distribution
Tensor log_ndtr(const Tensor& x);  // the log of its distribution function

Tensor lgamma(const Tensor& x);                // log|Γ(x)|; inf at 0, -1, -2 …
Tensor digamma(const Tensor& x);               // its derivative: ∓inf at ±0, NaN at -1, -2 …
Tensor polygamma(int order, const Tensor& x);  // order 1 and above, x > 0

Tensor i0(const Tensor& x);   // the modified Bessel function of order 0; NaN at ±inf
Tensor i0e(const Tensor& x);  // e^-|x|·i0(x)
Tensor i1(const Tensor& x);
Tensor i1e(const Tensor& x);

// Bessel functions of order 0 and 1, of the first and second kind, and the modified ones of the
// second kind; NaN where they have no real value.
Tensor bessel_j(int order, const Tensor& x);
Tensor bessel_y(int order, const Tensor& x);
Tensor bessel_k(int order, const Tensor& x);
Tensor scaled_bessel_k(int order, const Tensor& x);  // e^x·bessel_k(x)

}  // namespace luminal
