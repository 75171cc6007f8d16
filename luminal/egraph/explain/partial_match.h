// PartialMatch: how far a query can be matched, walking from a value that one of its slots has.
#pragma once

#include "luminal/egraph/database/database.h"
#include "luminal/egraph/database/rule.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace luminal::egraph {

// One thing that must hold: an atom or a guard, by its number in the query.
struct QueryStep {
  bool is_guard = false;
  uint32_t number = 0;
};

struct PartialMatch {
  std::vector<QueryStep> steps;             // the whole query, in the order of the walk
  size_t held = 0;                          // how many of the steps
  std::vector<std::optional<Value>> slots;  // as they were bound there
  std::vector<uint32_t> rows;               // of the atoms that held, in the order of the steps
  bool complete = true;                     // whether all ways were tried

  bool is_match() const { return held == steps.size(); }
};

// A plain backtracking search for one answer, apart from the engine's matcher, which drops all that
// doesn't match. The walk goes from terms to their arguments first, and checks guards as soon as
// their arguments are known. The database must be rebuilt and must not change meanwhile.
class PartialMatcher {
 public:
  // The query must outlive it.
  PartialMatcher(Database& database, const Query& query) : database_(database), query_(query) {}

  // The match that gets furthest with this slot bound to this value, the first of several.
  PartialMatch find(uint32_t slot, Value value);

 private:
  using Slots = std::vector<std::optional<Value>>;
  using Index = std::map<std::vector<uint32_t>, std::vector<uint32_t>>;  // from a key to its rows

  void order_steps(Slots bound);
  int rank(const Atom& atom, const Slots& bound) const;
  bool descend(size_t level, Slots& slots);
  bool guard_holds(const Guard& guard, Slots& slots);
  const std::vector<uint32_t>& candidates(const Atom& atom, const Slots& slots);

  Database& database_;
  const Query& query_;
  PartialMatch best_;
  std::vector<uint32_t> rows_;  // of the walk at hand
  uint64_t tried_ = 0;
  std::map<std::pair<FunctionId, std::vector<uint32_t>>, Index> indexes_;  // by bound columns
};

}  // namespace luminal::egraph
