// Random values for graphs that have none, by a fixed seed.
#pragma once

#include <vector>

#include "luminal/driver/measure/leaf_values.h"
#include "luminal/graph/graph.h"
#include "luminal/graph/tensor.h"

namespace luminal::bench {

// Sets every leaf that has no value. Inputs of dynamic size are set at run time: runs with other
// sizes need other values.
inline void set_random_leaves(Graph& graph, const Bindings& sizes = {}) {
  constexpr uint64_t kSeed = 7;
  const std::vector<NodeId> leaves = graph.leaves();
  const auto values = leaf_values(graph, sizes, graph, leaves, kSeed);
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Tensor tensor = graph.tensor(leaves[i]);
    std::vector<int64_t> dims;
    for (Expr dim : tensor.dims()) dims.push_back(dim.evaluate(sizes).value.value());
    tensor.set(TensorData{.dtype = tensor.dtype(),
                          .dims = dims,
                          .bytes = values[i].bytes(),
                          .owner = values[i].owner()});
  }
}

}  // namespace luminal::bench
