// The host primitives of the rules: pure functions of maps, index expressions, types and numbers.
#pragma once

#include "luminal/egraph/egraph.h"

namespace luminal::search {

class HostValues;

// Memoises a primitive, since equal layers ask the same questions about the same values. Not for
// constants of the language, whose ids belong to one e-graph: a copy of it may assign them anew.
egraph::PrimitiveFunction remembering(egraph::PrimitiveFunction answer);

// Adds them to an e-graph that already has the host sorts. `host` must outlive it.
void add_primitives(egraph::EGraph& egraph, HostValues& host);

}  // namespace luminal::search
