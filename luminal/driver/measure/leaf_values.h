// The values that plans are timed and checked on: those of weights where they are set, else numbers
// of a seed; never zeros, which some processors compute with faster.
#pragma once

#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/runtime/buffer.h"

namespace luminal {

// By leaf of the graph. `stands_for` gives the node of `data` whose data a leaf takes, if it has
// any; not valid: none. Indices of gathers and scatters stay within the rows of every tensor that
// the graph picks rows of.
std::vector<runtime::Buffer> leaf_values(const Graph& graph, const Bindings& sizes,
                                         const Graph& data, const std::vector<NodeId>& stands_for,
                                         uint64_t seed);

// What leaf_values() allocates.
uint64_t leaf_bytes(const Graph& graph, const Bindings& sizes, const Graph& data,
                    const std::vector<NodeId>& stands_for);

}  // namespace luminal
