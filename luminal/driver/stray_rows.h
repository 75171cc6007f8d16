// StrayRows: a kernel met an index outside of its dim; does the graph have one, and where?
#pragma once

#include <functional>

#include "luminal/graph/interpret/interpreter.h"
#include "luminal/runtime/program.h"

namespace luminal {

// Computes the indices of the graph's gathers and scatters again, with the interpreter. An error is
// the only case in which that happens, so it may take its time.
class StrayRows : public runtime::IndexJudge {
 public:
  // `leaf` gives the data of leaves, `has_leaf` says whether it can. All must outlive it.
  StrayRows(const Graph& graph, const Bindings& bindings, const interpret::LeafData& leaf,
            const std::function<bool(NodeId)>& has_leaf)
      : graph_(graph), bindings_(bindings), leaf_(leaf), has_leaf_(has_leaf) {}

  // UserError that names the op, the position, the value and the size of the dim.
  void judge() override;

 private:
  bool is_there(NodeId id) const;

  const Graph& graph_;
  const Bindings& bindings_;
  const interpret::LeafData& leaf_;
  const std::function<bool(NodeId)>& has_leaf_;
};

}  // namespace luminal
