// ViewChecks: bounds checks of view indices that depend on the sizes of a run.
#pragma once

#include <vector>

#include "luminal/graph/graph.h"

namespace luminal {

// Most indices are proved to be in bounds when a graph is verified. The others, such as a slice
// that starts at a variable, are kept here, without duplicates.
class ViewChecks {
 public:
  explicit ViewChecks(const Graph& graph);

  // UserError that names the view, the index and what it reaches at these sizes.
  void check(const Bindings& bindings) const;

  size_t size() const { return open_.size(); }

 private:
  struct OpenIndex {
    NodeId view;
    size_t axis;
  };

  const Graph& graph_;
  std::vector<OpenIndex> open_;
};

}  // namespace luminal
