// UnionForest: the path of unions between two ids.
#pragma once

#include "luminal/egraph/database/proof_log.h"

#include <cstdint>
#include <span>
#include <vector>

namespace luminal::egraph {

// Unions that form a forest, prepared for many path queries.
class UnionForest {
 public:
  UnionForest(std::span<const ProofLog::Union> unions, size_t ids);

  struct Edge {
    uint32_t number;  // of the union
    bool reversed;    // traversed from its second id to its first
  };
  bool connected(uint32_t a, uint32_t b) const { return trees_[a] == trees_[b]; }
  std::vector<Edge> path(uint32_t a, uint32_t b) const;

 private:
  std::vector<uint32_t> trees_;  // by id: the root
  std::vector<uint32_t> parents_;
  std::vector<uint32_t> depths_;
  std::vector<Edge> edges_;  // to the parent
};

}  // namespace luminal::egraph
