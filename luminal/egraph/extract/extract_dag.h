// Extraction by DAG cost: a term that is used twice costs once.
#pragma once

#include "luminal/egraph/database/database.h"
#include "luminal/egraph/extract/extract.h"
#include "luminal/egraph/report.h"
#include "luminal/egraph/snapshot.h"

#include <cstdint>
#include <vector>

namespace luminal::egraph {

// Greedy: once all argument classes have chosen, a class takes the node that is cheapest given
// their choices. So there are no cycles by construction, and a class without a finite term stays
// without one. The optimum is NP-hard; this never costs more than the same terms as trees.
class DagExtraction {
 public:
  DagExtraction(const Snapshot& snapshot, const Database& database);

  bool has_term(ClassId id) const { return best_[id.index()].valid(); }
  NodeId best(ClassId id) const { return best_[id.index()]; }
  // The cost of all chosen nodes reachable from a class, each counted once.
  uint64_t cost(ClassId id) const;
  // These nodes in topological order, arguments first.
  std::vector<NodeId> nodes_under(ClassId id) const;

 private:
  // The cost of a node without its argument classes: its function's cost, and 1 per base value.
  uint64_t own_cost(const Node& node) const;
  uint64_t base_values(Value value, SortId sort) const;
  template <typename Visit>
  void for_each_argument(const Node& node, const Visit& visit) const;
  uint64_t cost_with_arguments(const Node& node) const;
  // Appends the unvisited nodes reachable from a class to `order_`.
  void visit(ClassId id) const;

  const Snapshot& snapshot_;
  const Database& database_;
  std::vector<NodeId> best_;
  // State of the current visit.
  mutable std::vector<uint32_t> visited_;  // by class: the number of the last visit
  mutable uint32_t visit_number_ = 0;
  mutable std::vector<NodeId> order_;
};

// UserError if there is no finite term. The database must be rebuilt.
ExtractedDag extract_dag(const Database& database, Value value, SortId sort);

}  // namespace luminal::egraph
