// Inverse trigonometric functions. Integers and bool are taken as f32; results of f16, bf16 and
// f32 are rounded once.
#pragma once

#include "luminal/graph/tensor.h"

namespace luminal {

Tensor atan(const Tensor& x);
Tensor asin(const Tensor& x);                    // NaN outside of [-1, 1]
Tensor acos(const Tensor& x);                    // NaN outside of [-1, 1]
Tensor atan2(const Tensor& y, const Tensor& x);  // the angle of (x, y), in (-π, π]; ±0 as in C
Tensor hypot(const Tensor& a, const Tensor& b);  // √(a² + b²); inf if either is infinite
Tensor copysign(const Tensor& size, const Tensor& sign);  // |size| with the sign bit of the other

}  // namespace luminal
