// Explaining equalities from the log of proofs: the part of it that two terms' equality rests on.
#pragma once

#include "luminal/egraph/engine.h"
#include "luminal/egraph/explanation.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::egraph {

// Unions that form a forest, to be walked many times.
class UnionForest {
 public:
  UnionForest(std::span<const ProofLog::Union> unions, size_t ids);

  struct Edge {
    uint32_t number;  // of the union
    bool reversed;    // walked from its second id to its first
  };
  bool connected(uint32_t a, uint32_t b) const { return trees_[a] == trees_[b]; }
  std::vector<Edge> path(uint32_t a, uint32_t b) const;

 private:
  std::vector<uint32_t> trees_;  // by id: the root
  std::vector<uint32_t> parents_;
  std::vector<uint32_t> depths_;
  std::vector<Edge> edges_;  // to the parent
};

// Both are of one equality sort. UserError where they aren't equal, where proofs weren't recorded,
// or where a rule on the way compares terms inside of containers, which isn't explained yet.
// The engine must be rebuilt, and the forest made of its log's unions since.
Explanation explain(Engine& engine, const UnionForest& forest, Value a, Value b);

// A question as text: `TERM = TERM`. The terms are explained as they are written.
Explanation explain(Engine& engine, std::string_view question);

// Whether the steps follow from the engine's rules and commands, by `ProofChecker`.
ProofVerdict check(Engine& engine, const Explanation& explanation);

std::string explanation_text(const Database& database, const Explanation& explanation);
std::string explanation_json(const Database& database, const Explanation& explanation);

}  // namespace luminal::egraph
