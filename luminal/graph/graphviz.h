// A picture of a graph in Graphviz's language.
#pragma once

#include <string>

#include "luminal/base/visibility.h"
#include "luminal/graph/graph.h"

namespace luminal {

// Nodes in their topological order, shapes and dtypes on the edges.
LUMINAL_API std::string to_graphviz(const Graph& graph);

}  // namespace luminal
