// The dtypes composites compute in, and casts to them.
#pragma once

#include <string_view>

#include "luminal/graph/scalar.h"
#include "luminal/graph/tensor.h"

namespace luminal::composite {

// The dtype of an op between both, as PyTorch has it: a tensor with dims outranks a scalar tensor
// of the same kind.
DType result_dtype(const Tensor& a, const Tensor& b);
// Floats stay, integers and bool become f32.
DType float_dtype(DType dtype);
// What a composite computes in: f32 for f16 and bf16, else float_dtype.
DType compute_dtype(DType dtype);

// Throws UserError unless x is a float tensor.
void check_float(std::string_view op, const Tensor& x);
// Throws UserError unless x can be an index: i64 or i32.
void check_index(std::string_view op, const Tensor& x);

// function(x in compute_dtype), cast to float_dtype.
template <typename Function>
Tensor in_compute_dtype(const Tensor& x, Function function) {
  return function(x.cast(compute_dtype(x.dtype()))).cast(float_dtype(x.dtype()));
}

}  // namespace luminal::composite
