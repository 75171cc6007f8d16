// Which nodes the interpreter stores, and which it recomputes wherever they are read.
#pragma once

#include <span>
#include <vector>

#include "luminal/graph/graph.h"

namespace luminal::interpret {

struct StoragePlan {
  std::vector<NodeId> steps;  // the stored nodes, each after those it reads
  std::vector<std::vector<NodeId>>
      finished;              // after step i, these stored nodes have no reader left
  std::vector<bool> stored;  // by node id
};

// `elements[id]` is the resolved number of elements of each node that `roots` need.
StoragePlan plan_storage(const Graph& graph, std::span<const NodeId> roots,
                         const std::vector<int64_t>& elements);

}  // namespace luminal::interpret
