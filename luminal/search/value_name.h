// What people call a value of the term graph.
#pragma once

#include <string>
#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/kernel/term_graph.h"

namespace luminal::search {

// "%12 (add)": the first node with this value; else its first term. `class_of` is by node.
std::string value_name(const Graph& graph, const std::vector<kernel::ClassId>& class_of,
                       const kernel::TermGraph& terms, kernel::ClassId id);

}  // namespace luminal::search
