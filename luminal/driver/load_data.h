// load_data: the elements set on a graph's leaves, loaded where that was put off.
#pragma once

#include <optional>
#include <vector>

#include "luminal/graph/graph.h"

namespace luminal {

// By leaf of `leaves`; none where none was set. Up to `threads` loaders run at once: most of a
// start is reading weights. What a loader throws is rethrown, that of the first leaf if several do.
std::vector<std::optional<TensorData>> load_data(const Graph& graph,
                                                 const std::vector<NodeId>& leaves, int threads);

}  // namespace luminal
