// Extraction: for each class the term that is cheapest as a tree.
#pragma once

#include "luminal/egraph/database.h"
#include "luminal/egraph/snapshot.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace luminal::egraph {

// A node costs its function's cost plus that of its arguments; base and host values cost 1. Cycles
// are no problem: a class is settled only after all arguments of its best node, so what has no
// finite term stays without one.
class Extraction {
 public:
  static constexpr uint64_t kNoTerm = std::numeric_limits<uint64_t>::max();

  Extraction(const Snapshot& snapshot, const Schema& schema);

  // Saturates below kNoTerm, which says that the class has no finite extractable term.
  uint64_t cost(ClassId id) const { return costs_[id.index()]; }
  NodeId best(ClassId id) const { return best_[id.index()]; }

 private:
  std::vector<uint64_t> costs_;
  std::vector<NodeId> best_;
};

// The best term of a class as text; it must have one.
std::string print_term(const Database& database, const Snapshot& snapshot,
                       const Extraction& extraction, ClassId id);

}  // namespace luminal::egraph
