// Random data for a graph's leaves, such that every op of the graph accepts it.
#pragma once

#include <cstdint>

#include "luminal/graph/graph.h"

namespace luminal::cli {

// Floats from −1 to 1, bools, and integers small enough to index whatever the graph gathers from or
// scatters into. The same seed, leaf and dims give the same data.
TensorData random_data(const Graph& graph, NodeId leaf, const Bindings& bindings, uint64_t seed);

}  // namespace luminal::cli
