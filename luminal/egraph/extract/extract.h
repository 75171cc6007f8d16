// Extraction: the cheapest term of each class, by tree cost.
#pragma once

#include "luminal/egraph/database/database.h"
#include "luminal/egraph/extract/settle_classes.h"
#include "luminal/egraph/snapshot.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace luminal::egraph {

// A node costs its function's cost plus the costs of its arguments; a container costs the sum of
// its contents; base and host values cost 1. Cycles are harmless: a class is settled only after all
// arguments of its best node, so a class without a finite term stays without one.
class Extraction {
 public:
  static constexpr uint64_t kNoTerm = kNoTermCost;

  Extraction(const Snapshot& snapshot, const Database& database);

  // Saturates below kNoTerm, which means: no finite extractable term.
  uint64_t cost(ClassId id) const { return costs_[id.index()]; }
  NodeId best(ClassId id) const { return best_[id.index()]; }
  // The cost of a value of any sort, and of a node with its best arguments; kNoTerm for a node that
  // must not be extracted.
  uint64_t cost(Value value, SortId sort) const;
  uint64_t cost(const Node& node) const;

 private:
  using ContainerCosts = std::unordered_map<uint64_t, uint64_t>;  // by sort and value
  uint64_t container_cost(Value value, SortId sort, ContainerCosts& known) const;

  const Snapshot& snapshot_;
  const Database& database_;
  std::vector<uint64_t> costs_;
  std::vector<NodeId> best_;
};

// Throws a UserError: the class has no finite term.
[[noreturn]] void fail_without_term(const Database& database, Value value, SortId sort);

// The best terms of values, as text. The database must be rebuilt and must not change meanwhile.
class TermExtractor {
 public:
  explicit TermExtractor(const Database& database);

  uint64_t cost(Value value, SortId sort) const { return extraction_.cost(value, sort); }
  // UserError if there is no finite term, or its text would be huge.
  std::string term(Value value, SortId sort) const;
  // `otherwise` if there is no finite term.
  std::string term_or(Value value, SortId sort, const std::string& otherwise) const;
  // The constructor that the best term of a class starts with; it must have one.
  const std::string& head(Value value) const;
  // Terms that start from different nodes of a class, the cheapest first; at most `count`.
  std::vector<std::string> variants(Value value, SortId sort, uint64_t count) const;

 private:
  const Database& database_;
  Snapshot snapshot_;
  Extraction extraction_;
};

}  // namespace luminal::egraph
