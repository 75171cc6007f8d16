// Names of values of the term graph, for people.
#pragma once

#include <string>
#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/kernel/lower/term_graph.h"

namespace luminal::search {

class ValueNames {
 public:
  // `class_of` is by node; all of it must outlive the names.
  ValueNames(const Graph& graph, const std::vector<kernel::ClassId>& class_of,
             const kernel::TermGraph& terms);

  // "%12 (add)": the first node with this value; else its first term.
  std::string of(kernel::ClassId id) const;

 private:
  const Graph& graph_;
  const kernel::TermGraph& terms_;
  std::vector<NodeId> node_;  // by class
};

}  // namespace luminal::search
