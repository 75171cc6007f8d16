// Arithmetic, comparison, bitwise and logical ops of two operands, with PyTorch's broadcasting and
// promotion. A result is a new tensor; a Scalar takes the other operand's dtype unless its kind is
// higher (a float with integers gives f32).
#pragma once

#include <optional>
#include <utility>

#include "luminal/base/visibility.h"
#include "luminal/graph/scalar.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// Declares one op for (Tensor, Tensor), (Tensor, Scalar) and (Scalar, Tensor).
#define LUMINAL_BINARY(function)                                 \
  LUMINAL_API Tensor function(const Tensor& a, const Tensor& b); \
  LUMINAL_API Tensor function(const Tensor& a, const Scalar& b); \
  LUMINAL_API Tensor function(const Scalar& a, const Tensor& b)

LUMINAL_BINARY(operator+);     // bool: logical or
LUMINAL_BINARY(operator-);     // not for bool
LUMINAL_BINARY(operator*);     // bool: logical and
LUMINAL_BINARY(operator/);     // true division: integers give f32
LUMINAL_BINARY(operator%);     // remainder()
LUMINAL_BINARY(floor_divide);  // ⌊a / b⌋; an integer divided by 0 is 0 or -1
LUMINAL_BINARY(remainder);     // a - b·⌊a / b⌋: the sign of b
LUMINAL_BINARY(fmod);          // remainder of division toward zero: the sign of a
LUMINAL_BINARY(pow);           // a to the power b, also for negative bases; integers wrap

// Comparisons give bool; with NaN all are false except ne.
LUMINAL_BINARY(operator<);
LUMINAL_BINARY(operator<=);
LUMINAL_BINARY(operator>);
LUMINAL_BINARY(operator>=);
LUMINAL_BINARY(eq);
LUMINAL_BINARY(ne);
LUMINAL_BINARY(lt);
LUMINAL_BINARY(le);
LUMINAL_BINARY(gt);
LUMINAL_BINARY(ge);

LUMINAL_BINARY(minimum);  // NaN if either is
LUMINAL_BINARY(maximum);  // NaN if either is

// Bitwise on integers, logical on bool.
LUMINAL_BINARY(bitwise_and);
LUMINAL_BINARY(bitwise_or);
LUMINAL_BINARY(bitwise_xor);
LUMINAL_BINARY(bitwise_left_shift);   // 0 if the shift is negative or past the width
LUMINAL_BINARY(bitwise_right_shift);  // arithmetic: fills with the sign
LUMINAL_API Tensor bitwise_not(const Tensor& x);

// Elements count as true if non-zero (also NaN); the result is bool.
LUMINAL_BINARY(logical_and);
LUMINAL_BINARY(logical_or);
LUMINAL_BINARY(logical_xor);
LUMINAL_API Tensor logical_not(const Tensor& x);

#undef LUMINAL_BINARY

// `a` where `condition` (bool) is true, else `b`; all three broadcast.
LUMINAL_API Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
LUMINAL_API Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b);
LUMINAL_API Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b);
LUMINAL_API Tensor where(const Tensor& condition, const Scalar& a, const Scalar& b);

// x limited to [low, high]; either may be std::nullopt. NaN stays; low > high gives high.
LUMINAL_API Tensor clamp(const Tensor& x, const std::optional<Scalar>& low,
                         const std::optional<Scalar>& high = std::nullopt);
LUMINAL_API Tensor clamp(const Tensor& x, const Tensor& low, const Tensor& high);

// The dims that both broadcast to: sizes are equal or 1, aligned at the last axis.
LUMINAL_API Dims broadcast_dims(const Dims& a, const Dims& b);
// Both operands, expanded to the same dims; dtypes are unchanged.
LUMINAL_API std::pair<Tensor, Tensor> broadcast_together(const Tensor& a, const Tensor& b);

}  // namespace luminal
