// Walking a graph: topological order and consumers.
#pragma once

#include <span>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/graph/graph.h"

namespace luminal {

// Every node after its inputs; among those that could come next, the one with the least id.
// Throws UserError if the graph has a cycle (only an edit can make one).
LUMINAL_API std::vector<NodeId> topological_order(const Graph& graph);
// The same, of only the nodes that `roots` need.
LUMINAL_API std::vector<NodeId> topological_order(const Graph& graph,
                                                  std::span<const NodeId> roots);
// For each node id, the nodes that read it, in order of id, once per use.
LUMINAL_API std::vector<std::vector<NodeId>> consumers(const Graph& graph);
// What a run must compute: outputs, kept tensors, state updates and probes, each once.
LUMINAL_API std::vector<NodeId> roots(const Graph& graph);

}  // namespace luminal
