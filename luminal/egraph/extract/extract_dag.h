// Extraction by the cost of a DAG: a term that is used twice costs once.
#pragma once

#include "luminal/egraph/database/database.h"
#include "luminal/egraph/extract/extract.h"
#include "luminal/egraph/report.h"
#include "luminal/egraph/snapshot.h"

#include <cstdint>
#include <vector>

namespace luminal::egraph {

// Greedy: a class takes the node that is cheapest given what its arguments chose, once all of them
// have. So there are no cycles, by construction, and what has no finite term stays without one.
// Finding the best of all is NP-hard; this is never above the cost of the same terms as trees.
class DagExtraction {
 public:
  DagExtraction(const Snapshot& snapshot, const Database& database);

  bool has_term(ClassId id) const { return best_[id.index()].valid(); }
  NodeId best(ClassId id) const { return best_[id.index()]; }
  // What the chosen nodes under a class, itself included, cost together.
  uint64_t cost(ClassId id) const;
  // These nodes, arguments before those that use them.
  std::vector<NodeId> nodes_under(ClassId id) const;

 private:
  // The cost of a node without its argument classes: its function's, and 1 for each base value.
  uint64_t own_cost(const Node& node) const;
  uint64_t base_values(Value value, SortId sort) const;
  template <typename Visit>
  void for_each_argument(const Node& node, const Visit& visit) const;
  uint64_t cost_with_arguments(const Node& node) const;
  // Adds what wasn't visited yet under a class to `order_`.
  void visit(ClassId id) const;

  const Snapshot& snapshot_;
  const Database& database_;
  std::vector<NodeId> best_;
  // Of the visit at hand.
  mutable std::vector<uint32_t> visited_;  // by class: the number of the last visit
  mutable uint32_t visit_number_ = 0;
  mutable std::vector<NodeId> order_;
};

// UserError where there is no finite term. The database must be rebuilt.
ExtractedDag extract_dag(const Database& database, Value value, SortId sort);

}  // namespace luminal::egraph
