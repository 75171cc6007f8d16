// Sorting along an axis, and searching in what is sorted. NaN is greater than every number, -0
// equals 0, and equal elements keep their order, as in PyTorch.
#pragma once

#include "luminal/graph/tensor.h"

namespace luminal {

struct Sorted {
  Tensor values;
  Tensor indices;  // i64: where along the axis each value was
};

// The elements in rising order, or in falling order. A scalar is sorted.
Sorted sort(const Tensor& x, int axis = -1, bool descending = false);
// The first `count` of them. Those beyond aren't computed.
Sorted top_k(const Tensor& x, Expr count, int axis = -1, bool largest = true);

// How many elements of `sorted` [… n] are below each of `values` […, m]; with `right`, how many
// aren't above. `sorted` [n] serves values of any dims. i64.
Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right = false);

// The places of each element, from the back of an axis, in its sorted order: i64.
Tensor sorted_places(const Tensor& x, int axis, bool descending = false);

}  // namespace luminal
