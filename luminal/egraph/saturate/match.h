// Matching: finds the rows and values that satisfy a query, either all or only new ones.
//
// New matches are found by semi-naive evaluation, one search per focus atom. For the query
// (Add x y), (Mul y z) and the rows that are new since a time:
//   focus Add: new Add rows joined with all Mul rows
//   focus Mul: old Add rows joined with new Mul rows
// So a match with at least one new row is found exactly once, and no match of old rows again.
#pragma once

#include "luminal/egraph/database/database.h"
#include "luminal/egraph/database/rule.h"
#include "luminal/egraph/saturate/plan.h"

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

namespace luminal::egraph {

using Clock = std::chrono::steady_clock;

struct SearchLimits {
  uint64_t matches = UINT64_MAX;
  Clock::time_point deadline = Clock::time_point::max();
};

enum class SearchEnd : uint8_t { Done, MatchLimit, TimeLimit };

// The matches of one query: the values of its kept slots, concatenated.
struct Matches {
  GrowArray<Value> values;
  GrowArray<uint32_t> rows;  // by match: the row of each atom; only with a proof log
  uint64_t count = 0;
  uint64_t candidates = 0;   // rows that were tried
  std::vector<Value> slots;  // of the current match

  void clear() {
    values.clear();
    rows.clear();
    count = 0;
    candidates = 0;
  }
  // Frees the memory of many matches; that of a few is kept for the next search.
  void release() {
    constexpr size_t kKept = size_t{1} << 16;
    const bool large = values.bytes() + rows.bytes() > kKept;
    clear();
    if (!large) return;
    values.shrink();
    rows.shrink();
  }
};

// A query with its plans, cached between searches: one per focus atom, and one without focus.
class Matcher {
 public:
  Matcher(Query query, std::vector<uint32_t> kept);

  const Query& query() const { return query_; }
  const std::vector<uint32_t>& kept() const { return kept_; }

  // Appends the matches with at least one row of this time or later; time 0 means all matches. Rows
  // must be canonical. The order depends on the database alone.
  SearchEnd find(Database& database, uint32_t since, const SearchLimits& limits, Matches& matches);

  // Whether any row that the query reads, or a global in it, is of this time or later.
  bool has_news(const Database& database, uint32_t since) const;

 private:
  bool uses_changed_global(const Database& database, uint32_t since) const;
  // Drops the plans if tables have grown or shrunk by about a factor of two since.
  void drop_outdated_plans(const Database& database);

  Query query_;
  std::vector<uint32_t> kept_;
  std::vector<Plan> plans_;         // by focus atom; the last has no focus
  std::vector<uint8_t> size_bits_;  // bit width of each atom's table size when the plans were made
};

}  // namespace luminal::egraph
