// Entries of operators that are a function of one or two tensors.
#pragma once

#include "luminal/graph/composite/indexing.h"
#include "luminal/pytorch/aten/op_table.h"
#include "luminal/pytorch/aten/promotion.h"

namespace luminal::pytorch {

using OfOne = Tensor(const Tensor&);
using OfTwo = Tensor(const Tensor&, const Tensor&);

template <OfOne* kFunction>
Values of_one(const Arguments& of) {
  return {kFunction(of.tensor(0))};
}

// An operand; a number as a tensor without dims, in the dtype that it has beside `other`.
inline Tensor operand(const Arguments& of, size_t i, size_t other) {
  if (of.is_tensor(i)) return of.tensor(i);
  const Scalar number = of.scalar(i);
  return full(of.graph(), {}, number, promote(of.tensor(other).dtype(), number));
}

// Either operand may be a number.
template <OfTwo* kFunction>
Values of_two(const Arguments& of) {
  const auto [a, b] = promoted(operand(of, 0, 1), operand(of, 1, 0));
  return {kFunction(a, b)};
}

}  // namespace luminal::pytorch
