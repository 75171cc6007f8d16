// Random data for a graph's leaves that every op of the graph accepts.
#pragma once

#include <cstdint>

#include "luminal/graph/graph.h"

namespace luminal::cli {

// Floats in −1 … 1, bools, and integers small enough to index everything that the graph gathers
// from or scatters into. Equal seed, leaf and dims give equal data.
TensorData random_data(const Graph& graph, NodeId leaf, const Bindings& bindings, uint64_t seed);

}  // namespace luminal::cli
