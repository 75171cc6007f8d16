// Query plans: the join order of a query's atoms, and how each is looked up.
#pragma once

#include "luminal/egraph/database/database.h"
#include "luminal/egraph/database/rule.h"

#include <cstdint>
#include <vector>

namespace luminal::egraph {

inline constexpr uint32_t kNoFocus = 0xffffffffu;

struct ColumnStep {
  uint32_t column;
  uint32_t slot;
  bool binds;  // false: the slot is bound and must be equal
};

struct GuardStep {
  uint32_t guard;
  bool binds;  // false: `output` is bound and must be equal
};

struct AtomStep {
  enum class Access : uint8_t { Scan, Key, Index };

  uint32_t atom = 0;
  Access access = Access::Scan;
  uint64_t mask = 0;                     // Index: the bound columns
  std::vector<uint32_t> key = {};        // slots, in column order
  std::vector<ColumnStep> columns = {};  // columns that the access doesn't cover
  std::vector<GuardStep> guards = {};    // those whose inputs are bound by now
};

struct Plan {
  std::vector<GuardStep> guards;  // those that need no atom
  std::vector<AtomStep> steps;
};

// Starts from the new rows of the focus atom (semi-naive evaluation), or without a focus from the
// cheapest atom; then greedily takes the atom with the fewest expected rows given what is bound.
Plan make_plan(Database& database, const Query& query, uint32_t focus);

}  // namespace luminal::egraph
