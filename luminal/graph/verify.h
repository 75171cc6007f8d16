// verify: whether a graph keeps its promises, with errors that name tensors and shapes.
#pragma once

#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/graph/graph.h"

namespace luminal {

// Throws UserError at the first thing that doesn't hold: types follow from the inputs', nothing
// reads itself, no removed node is in use, each variable name has one pair of bounds.
LUMINAL_API void verify(const Graph& graph);

// The distinct variables of all dims, maps and expressions, sorted by name.
LUMINAL_API std::vector<Expr> variables(const Graph& graph);

}  // namespace luminal
