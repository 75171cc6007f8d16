// Bounds checks of index expressions: for all sizes by proof, or for the sizes of one run.
//
// Kernels address memory by index expressions. A view whose index may leave its dim would read
// outside of a buffer, so every view is checked: when the graph is built if that can be decided,
// otherwise in each run with new sizes.
#pragma once

#include <string>

#include "luminal/shape/index_map.h"

namespace luminal::shape {

// Whether 0 ≤ index < size for every value of their variables and indices; false when unknown.
bool known_inside(Expr index, Expr size);

// Checks 0 ≤ index < size for all values of the indices, with the variables bound. Empty if it
// holds, else why not, with an index and the value there ("i0 * 1000 reaches 63000 at i0 = 63").
// Where interval arithmetic is too coarse, the ranges of the indices are halved, up to a fixed
// number of times; if it is still undecided then, the check fails. An index over an empty extent
// takes no values. A `size` of 0 passes: there is nothing to read, and backends don't (see
// IndexMap).
std::string why_outside(Expr index, Expr size, const Bindings& bindings);

}  // namespace luminal::shape
