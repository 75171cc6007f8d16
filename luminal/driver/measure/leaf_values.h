// The values that plans are timed and checked on: weights as far as they are set, else
// pseudo-random numbers; never zeros, which are faster on some processors.
#pragma once

#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/runtime/buffer.h"

namespace luminal {

// By leaf of the graph. `stands_for` gives the node of `data` whose data a leaf takes; not valid if
// there is none. Indices of gathers and scatters stay within the rows of every tensor that the
// graph gathers from or scatters to.
std::vector<runtime::Buffer> leaf_values(const Graph& graph, const Bindings& sizes,
                                         const Graph& data, const std::vector<NodeId>& stands_for,
                                         uint64_t seed);

// What leaf_values() allocates.
uint64_t leaf_bytes(const Graph& graph, const Bindings& sizes, const Graph& data,
                    const std::vector<NodeId>& stands_for);

}  // namespace luminal
