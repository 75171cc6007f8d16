// Kernels without a search: what a compiler with fixed rules of fusion makes of a graph, as
// the side that searches are compared with.
#pragma once

#include <vector>

#include "luminal/graph/graph.h"

namespace luminal::bench {

// The results of kernels that have one reduction (a product, a convolution, a pooling, a sum), what
// is computed element by element before it where nothing is computed twice, and all element-wise
// ops after it, up to a value that other kernels read as well. In the order of the graph.
std::vector<NodeId> greedy_kernels(const Graph& graph);

// Stores those values, and with FusionPolicy::Always no others.
void fix_greedy_kernels(Graph& graph);

}  // namespace luminal::bench
