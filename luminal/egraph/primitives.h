// The primitives every program has: arithmetic, comparison and logic on the base sorts.
#pragma once

#include "luminal/egraph/schema.h"

namespace luminal::egraph {

// i64 operations have no result where they would overflow, divide by zero or shift out of range;
// f64 division by zero has none either. Comparisons hold or have no result; `bool-<` and its like
// give a bool.
void add_builtin_primitives(Schema& schema);

}  // namespace luminal::egraph
