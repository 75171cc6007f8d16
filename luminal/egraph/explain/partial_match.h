// PartialMatch: how far a query can be matched with one of its slots bound to a value.
#pragma once

#include "luminal/egraph/database/database.h"
#include "luminal/egraph/database/rule.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace luminal::egraph {

// One condition of a query: an atom or a guard, by its number.
struct QueryStep {
  bool is_guard = false;
  uint32_t number = 0;
};

struct PartialMatch {
  std::vector<QueryStep> steps;             // the whole query, in search order
  size_t held = 0;                          // how many of the steps held
  std::vector<std::optional<Value>> slots;  // values at that point
  std::vector<uint32_t> rows;               // of the atoms that held, in search order
  bool complete = true;                     // whether the search was exhaustive

  bool is_match() const { return held == steps.size(); }
};

// A plain backtracking search for one answer, separate from the engine's matcher, which discards
// partial matches. Visits terms before their arguments, and checks guards as soon as their inputs
// are bound. The database must be rebuilt and must not change meanwhile.
class PartialMatcher {
 public:
  // The query must outlive the matcher.
  PartialMatcher(Database& database, const Query& query) : database_(database), query_(query) {}

  // The match that gets furthest with this slot bound to this value; the first of several.
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
  std::vector<uint32_t> rows_;  // of the current partial match
  uint64_t tried_ = 0;
  std::map<std::pair<FunctionId, std::vector<uint32_t>>, Index> indexes_;  // by bound columns
};

}  // namespace luminal::egraph
