// Plans: in which order a query's atoms are joined, and how each is looked up.
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
  bool binds;  // else the slot is bound and must be equal
};

struct GuardStep {
  uint32_t guard;
  bool binds;  // its output; else that must be equal
};

struct AtomStep {
  enum class Access : uint8_t { Scan, Key, Index };

  uint32_t atom = 0;
  Access access = Access::Scan;
  uint64_t mask = 0;                     // of Index: the columns that are bound
  std::vector<uint32_t> key = {};        // slots, in the order of the columns
  std::vector<ColumnStep> columns = {};  // what the access leaves to do
  std::vector<GuardStep> guards = {};    // those whose inputs are bound by now
};

struct Plan {
  std::vector<GuardStep> guards;  // that need no atom
  std::vector<AtomStep> steps;
};

// Starts from the focus atom, whose new rows are scanned, or without one from the cheapest; then
// takes the atom with the fewest expected rows for what is bound.
Plan make_plan(Database& database, const Query& query, uint32_t focus);

}  // namespace luminal::egraph
