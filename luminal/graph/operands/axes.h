// What several composites ask of axes and dims, with errors that name the op.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "luminal/graph/options.h"
#include "luminal/graph/tensor.h"

namespace luminal::composite {

// The axis counted from 0. Where `scalar_ok`, a scalar has one axis, 0 or -1, as in PyTorch.
int normalize_axis(std::string_view op, int axis, const Dims& dims, bool scalar_ok = false);
// The axes counted from 0, in rising order, each once; all of them for an empty list.
std::vector<int> normalize_axes(std::string_view op, const Axes& axes, const Dims& dims);

// Where an axis, counted from 0, stands in a list of them.
inline size_t at(int axis) { return static_cast<size_t>(axis); }

// The dims that both broadcast to.
Dims broadcast(std::string_view op, const Dims& a, const Dims& b);
// x expanded to `dims` on the left and in its dims of size 1; broadcast() has said that it can be.
Tensor expand_to(const Tensor& x, const Dims& dims);

// x with `axis` (counted from 0) moved to the end, and moved back from there.
Tensor axis_last(const Tensor& x, int axis);
Tensor axis_back(const Tensor& x, int axis);

}  // namespace luminal::composite
