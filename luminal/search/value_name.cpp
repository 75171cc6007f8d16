#include "luminal/search/value_name.h"

namespace luminal::search {

std::string value_name(const Graph& graph, const std::vector<kernel::ClassId>& class_of,
                       const kernel::TermGraph& terms, kernel::ClassId id) {
  for (uint32_t node = 0; node < class_of.size(); ++node) {
    if (class_of[node].valid() && class_of[node] == id) return graph.describe(NodeId{node});
  }
  return kernel::describe(terms.at(id).terms.front());
}

}  // namespace luminal::search
