// The type of a term by the graph's own rules, for terms that a user's rule made.
#pragma once

#include <span>

#include "luminal/kernel/lower/term_graph.h"
#include "luminal/search/terms/terms.h"

namespace luminal::search {

// `operands` are the types of what the term reads, in its order; `said` is what the term itself
// states: the type of an iota, the dtype of a cast. UserError if the primitive doesn't take them,
// worded as for a user of the primitive. Not for loads.
Type type_by_graph(const kernel::Term& term, const Type& said, std::span<const Type> operands);

}  // namespace luminal::search
