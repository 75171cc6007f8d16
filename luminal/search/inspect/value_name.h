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
  // "add(%3 (mul), exp2(%4 (input)))": a term down to values that nodes have, without views.
  std::string of(const kernel::Term& term) const { return of(term, kDeepest); }

 private:
  static constexpr int kDeepest = 8;
  std::string of(const kernel::Term& term, int depth) const;
  std::string operand(kernel::ClassId id, int depth) const;

  const Graph& graph_;
  const kernel::TermGraph& terms_;
  std::vector<NodeId> node_;  // by class
};

}  // namespace luminal::search
