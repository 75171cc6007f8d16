// The graphs on which searches are measured, at their real sizes, with random weights.
#pragma once

#include <string>
#include <vector>

#include "luminal/graph/graph.h"

namespace luminal {

struct SearchGraph {
  std::unique_ptr<Graph> graph;
  Bindings sizes;  // for a run
};

std::vector<std::string> search_graph_names();
// UserError that lists the names for an unknown one. Leaves have no values.
SearchGraph search_graph_of_shapes(const std::string& name);
// The same, with random values.
SearchGraph build_search_graph(const std::string& name);

}  // namespace luminal
