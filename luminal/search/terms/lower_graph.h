// Lowers a graph to terms: one Value per node; what no kernel can compute becomes a host step.
#pragma once

#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/kernel/lower/term_graph.h"
#include "luminal/search/terms/terms.h"

namespace luminal::search {

// A tensor that kernels read and none computes.
struct SourceTensor {
  NodeId node;  // of the graph: a leaf, or what a host step computes
  bool host_step = false;
};

struct LoweredGraph {
  IdVector<kernel::SourceId, SourceTensor> sources;  // by the number in (Source k)
  std::vector<egraph::Value> value_of;               // by node id; not valid for nodes nobody needs
  // What must be in memory: outputs, state updates and what is materialized.
  std::vector<NodeId> stored;
  std::vector<NodeId> materialized;  // those that are boundaries between kernels
};

// Who computes u4 values that must be in memory.
enum class PackedResults : uint8_t {
  Host,    // a host step: kernels read packed elements, but can't write them
  Kernel,  // for terms that won't become kernels
};

// Adds what `roots` need to `terms`. A Custom is a host step.
LoweredGraph lower_graph(const Graph& graph, const std::vector<NodeId>& roots, Terms& terms,
                         PackedResults packed = PackedResults::Host);

}  // namespace luminal::search
