// How a function of two equal tensors becomes an op on any two operands: promote, broadcast, apply.
#pragma once

#include <string_view>

#include "luminal/graph/scalar.h"
#include "luminal/graph/tensor.h"

namespace luminal::composite {

// A function of two tensors with equal dims and dtypes.
using StrictBinary = Tensor (*)(const Tensor& a, const Tensor& b);

// The dtype both operands are cast to, from their common one.
using OperandDType = DType (*)(DType common);
inline DType common_dtype(DType common) { return common; }
inline DType bool_dtype(DType) { return DType::Bool; }

Tensor apply(std::string_view op, StrictBinary function, const Tensor& a, const Tensor& b,
             OperandDType operand = common_dtype);
Tensor apply(std::string_view op, StrictBinary function, const Tensor& a, const Scalar& b,
             OperandDType operand = common_dtype);
Tensor apply(std::string_view op, StrictBinary function, const Scalar& a, const Tensor& b,
             OperandDType operand = common_dtype);

// `value` with the dims and dtype of `like`.
Tensor constant_like(const Tensor& like, const Scalar& value);
// 1 - x of a bool.
Tensor negation(const Tensor& x);

}  // namespace luminal::composite

// Defines an op's three overloads: the function, its name in messages, what computes it and
// the operands' dtype.
#define LUMINAL_DEFINE_BINARY(function, op, computed, operand) \
  Tensor function(const Tensor& a, const Tensor& b) {          \
    return composite::apply(op, computed, a, b, operand);      \
  }                                                            \
  Tensor function(const Tensor& a, const Scalar& b) {          \
    return composite::apply(op, computed, a, b, operand);      \
  }                                                            \
  Tensor function(const Scalar& a, const Tensor& b) {          \
    return composite::apply(op, computed, a, b, operand);      \
  }
