// The table `devices`: what fingerprints stand for.
#pragma once

#include <functional>

#include "luminal/records/record.h"
#include "luminal/records/rows.h"
#include "luminal/records/sqlite.h"

namespace luminal::records {

// In a transaction of the caller's.
Outcome put_device(Connection& db, const Device& device);

// All good rows, by fingerprint; the others go to `refuse`.
void each_device(Connection& db, const std::function<void(Device&&)>& use,
                 const std::function<void(Refusal&&)>& refuse);

}  // namespace luminal::records
