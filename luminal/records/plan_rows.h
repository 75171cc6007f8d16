// The tables `plans` and `comparisons`: reads and writes rows, checked in both directions.
#pragma once

#include <functional>
#include <vector>

#include "luminal/records/record.h"
#include "luminal/records/row_key.h"
#include "luminal/records/rows.h"
#include "luminal/records/sqlite.h"

namespace luminal::records {

Found<Champion> find_champion(Connection& db, const PlanKey& key);

// The valid ones, ordered by the digests of champion and challenger.
std::vector<Comparison> find_comparisons(Connection& db, const PlanKey& key,
                                         const std::function<void(Refusal&&)>& refuse);

// Both keep the better record by supersedes(). The caller must have opened a transaction.
Outcome put_champion(Connection& db, const PlanKey& key, const Champion& champion, int64_t used);
Outcome put_comparison(Connection& db, const PlanKey& key, const Comparison& comparison,
                       int64_t used);

void touch_plan(Connection& db, const PlanKey& key, int64_t used);

// Visits all questions with their valid rows, ordered by their keys' digests; the others go to
// `refuse`.
void each_plan(Connection& db, const std::function<void(PlanEntry&&, int64_t used)>& use,
               const std::function<void(Refusal&&)>& refuse);

}  // namespace luminal::records
