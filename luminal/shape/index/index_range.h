// Whether an index stays inside its dim: for all sizes by proof, or at the sizes of one run.
//
// What a kernel reads and writes is addressed by index expressions. A view whose index may leave
// its dim would read outside of a buffer, so every view is checked: when the graph is built where
// that can be decided, otherwise in each run whose sizes are new.
#pragma once

#include <string>

#include "luminal/shape/index_map.h"

namespace luminal::shape {

// 0 ≤ index < size for every value of their variables and indices; false when unknown.
bool known_inside(Expr index, Expr size);

// Whether 0 ≤ index < size for all values of the indices, with the variables bound: empty if so,
// else why not, with the index and what it reaches ("i0 * 1000 reaches 63000 at i0 = 63"). Halves
// the ranges of the indices where intervals alone are too coarse, up to a fixed number of times;
// what is still open then is refused. An index that runs over an empty extent takes no values. A
// `size` of 0 is inside: there is nothing to read, and back ends don't (see IndexMap).
std::string why_outside(Expr index, Expr size, const Bindings& bindings);

}  // namespace luminal::shape
