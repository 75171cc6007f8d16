// Signs of floats, and functions computed in f64 so that an f32 result is as good as rounded.
#pragma once

#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/tensor.h"

namespace luminal::composite {

// Whether the sign bit is set: of -0 and of a negative NaN too. bool.
Tensor sign_bit(const Tensor& x);
// `size`, which isn't negative, with the sign of x; both are floats of equal dims.
Tensor with_sign_of(const Tensor& size, const Tensor& x);

// The quotient as IEEE 754 rounds it: a / b is a product by a rounded reciprocal, which can be an
// ulp away; where the result is rounded to an integer afterwards that is another integer.
Tensor exact_quotient(const Tensor& a, const Tensor& b);

// function(x in f64), cast to float_dtype: for functions whose formulas cancel.
template <typename Function>
Tensor in_f64(const Tensor& x, Function function) {
  const DType dtype = float_dtype(x.dtype());
  return function(x.cast(dtype).cast(DType::F64)).cast(dtype);
}

}  // namespace luminal::composite
