// The table `kernels`: reads and writes rows, checked in both directions.
#pragma once

#include <functional>
#include <vector>

#include "luminal/records/record.h"
#include "luminal/records/row_key.h"
#include "luminal/records/rows.h"
#include "luminal/records/sqlite.h"

namespace luminal::records {

Found<KernelRecord> find_kernel(Connection& db, const KernelKey& key);

// Keeps the better record by supersedes(). The caller must have opened a transaction.
Outcome put_kernel(Connection& db, const KernelKey& key, const KernelRecord& record, int64_t used);

void touch_kernel(Connection& db, const KernelKey& key, int64_t used);

// Visits all valid rows, ordered by their keys' digests; the others go to `refuse`.
void each_kernel(Connection& db, const std::function<void(KernelEntry&&, int64_t used)>& use,
                 const std::function<void(Refusal&&)>& refuse);

}  // namespace luminal::records
