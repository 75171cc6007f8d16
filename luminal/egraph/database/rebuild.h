// Rebuild: restores the invariants after unions: every row holds canonical ids only, and congruent
// rows are merged.
#pragma once

#include "luminal/egraph/database/database.h"

namespace luminal::egraph {

// Runs to a fixpoint; changed rows get the current time stamp. Restores `database.cause`.
void rebuild(Database& database);

}  // namespace luminal::egraph
