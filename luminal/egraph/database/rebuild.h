// Rebuild: after unions, makes every row mention canonical ids only and congruent rows one.
#pragma once

#include "luminal/egraph/database/database.h"

namespace luminal::egraph {

// Until nothing is left to do; changed rows get the time of now. Restores `database.cause`.
void rebuild(Database& database);

}  // namespace luminal::egraph
