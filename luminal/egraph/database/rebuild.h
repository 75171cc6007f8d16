// Rebuild: restores the invariants after unions: every row holds canonical ids only, and congruent
// rows are merged.
//
//   rows (f a) = c and (f b) = d; a union of a and b makes a the root of both
//   (f b) = d mentions b, which is no root any more: its canonical form is (f a) = d
//   two rows have the arguments (a): f is a constructor, so c and d are united (congruence);
//   for a function with a merge, the merge combines c and d
//   a displaced c or d is what the next round looks for
#pragma once

#include "luminal/egraph/database/database.h"

namespace luminal::egraph {

// Runs to a fixpoint; changed rows get the current time stamp. Restores `database.cause`.
void rebuild(Database& database);

}  // namespace luminal::egraph
