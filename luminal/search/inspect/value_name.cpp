#include "luminal/search/inspect/value_name.h"

namespace luminal::search {

ValueNames::ValueNames(const Graph& graph, const std::vector<kernel::ClassId>& class_of,
                       const kernel::TermGraph& terms)
    : graph_(graph), terms_(terms), node_(terms.classes.size()) {
  for (uint32_t node = 0; node < class_of.size(); ++node) {
    const kernel::ClassId id = class_of[node];
    if (id.valid() && !node_[id.index()].valid()) node_[id.index()] = NodeId{node};
  }
}

std::string ValueNames::of(kernel::ClassId id) const {
  const NodeId node = node_[id.index()];
  return node.valid() ? graph_.describe(node) : kernel::describe(terms_.at(id).terms.front());
}

}  // namespace luminal::search
