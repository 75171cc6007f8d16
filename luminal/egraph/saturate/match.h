// Matching: finds the rows and values that satisfy a query, all of them or those that are new.
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

// The matches of one query, as the values of its kept slots, one match after the other.
struct Matches {
  GrowArray<Value> values;
  GrowArray<uint32_t> rows;  // that each atom matched, only with a log of proofs
  uint64_t count = 0;
  uint64_t candidates = 0;   // rows that were tried
  std::vector<Value> slots;  // of the match at hand

  void clear() {
    values.clear();
    rows.clear();
    count = 0;
    candidates = 0;
  }
  // Gives back the room of many matches; that of a few is kept for the next search.
  void release() {
    constexpr size_t kKept = size_t{1} << 16;
    const bool large = values.bytes() + rows.bytes() > kKept;
    clear();
    if (!large) return;
    values.shrink();
    rows.shrink();
  }
};

// A query with its plans, kept from search to search: one per focus atom, and one without.
class Matcher {
 public:
  Matcher(Query query, std::vector<uint32_t> kept);

  const Query& query() const { return query_; }
  const std::vector<uint32_t>& kept() const { return kept_; }

  // Appends the matches that use at least one row of this time or later; all of them for time 0.
  // Rows must be canonical. The order depends on the database alone.
  SearchEnd find(Database& database, uint32_t since, const SearchLimits& limits, Matches& matches);

  // Whether any row the query reads, or a global in it, is of this time or later.
  bool has_news(const Database& database, uint32_t since) const;

 private:
  bool uses_changed_global(const Database& database, uint32_t since) const;
  // Forgets the plans once tables have grown or shrunk about two times since they were made.
  void drop_outdated_plans(const Database& database);

  Query query_;
  std::vector<uint32_t> kept_;
  std::vector<Plan> plans_;         // by focus atom; the last is the one without
  std::vector<uint8_t> size_bits_;  // of the atoms' tables when the plans were made
};

}  // namespace luminal::egraph
