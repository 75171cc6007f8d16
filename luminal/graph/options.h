// Options of the operations that are methods of Tensor too: what tensor.h needs to declare them.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "luminal/shape/expr.h"

namespace luminal {

// The axes a reduction goes over; an empty list means all. Negative ones count from the end.
struct Axes {
  Axes() = default;
  Axes(int axis) : list{axis} {}                          // NOLINT: an axis is a list of one
  Axes(std::initializer_list<int> axes) : list(axes) {}   // NOLINT: a list of axes is Axes
  Axes(std::vector<int> axes) : list(std::move(axes)) {}  // NOLINT: a list of axes is Axes
  std::vector<int> list;
};

struct ReduceOptions {
  bool keepdim = false;  // reduced axes stay, with size 1
};

struct VarOptions {
  int correction = 1;  // the divisor is n - correction, at least 0
  bool keepdim = false;
};

enum class GeluApproximation { None, Tanh };

struct SoftplusOptions {
  double beta = 1;
  double threshold = 20;  // above it (after beta) the result is x itself
};

struct IndexPutOptions {
  bool accumulate = false;  // adds instead of replacing
};

// Elements added at the two ends of an axis; negative ones are cut off.
struct Padding {
  Expr before = 0;
  Expr after = 0;
};

}  // namespace luminal
