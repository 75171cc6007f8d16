#include "luminal/search/inspect/value_name.h"

#include "luminal/search/terms/choose_terms.h"

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

std::string ValueNames::operand(kernel::ClassId id, int depth) const {
  const kernel::Term& first = terms_.at(id).terms.front();
  const bool ends = depth == 0 || kernel::operands(first).empty();
  const auto* view = std::get_if<kernel::ReindexTerm>(&first);
  if (view != nullptr && !ends) return operand(view->operand, depth - 1);
  return node_[id.index()].valid() || ends ? of(id) : of(first, depth - 1);
}

std::string ValueNames::of(const kernel::Term& term, int depth) const {
  std::string operands;
  for (kernel::ClassId id : kernel::operands(term)) {
    operands += operands.empty() ? "" : ", ";
    operands += operand(id, depth);
  }
  const std::string op = is_view(term) ? "view" : kernel::describe(term);
  return operands.empty() ? op : op + "(" + operands + ")";
}

}  // namespace luminal::search
