// The host primitives of the rules: pure functions of maps, index expressions, types and numbers.
#pragma once

#include "luminal/egraph/egraph.h"

namespace luminal::search {

class HostValues;

// Adds them to an e-graph that already has the host sorts. `host` must outlive it.
void add_primitives(egraph::EGraph& egraph, HostValues& host);

}  // namespace luminal::search
