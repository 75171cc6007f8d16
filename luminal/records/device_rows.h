// The table `devices`: the descriptions behind fingerprints.
#pragma once

#include <functional>

#include "luminal/records/record.h"
#include "luminal/records/rows.h"
#include "luminal/records/sqlite.h"

namespace luminal::records {

// The caller must have opened a transaction.
Outcome put_device(Connection& db, const Device& device);

// Visits all valid rows, ordered by fingerprint; the others go to `refuse`.
void each_device(Connection& db, const std::function<void(Device&&)>& use,
                 const std::function<void(Refusal&&)>& refuse);

}  // namespace luminal::records
