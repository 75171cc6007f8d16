// Host primitives of rules/sums.egg and rules/weights.egg: the maps of search/maps, by name.
#pragma once

#include "luminal/egraph/egraph.h"

namespace luminal::search {

class HostValues;

void add_sum_primitives(egraph::EGraph& egraph, HostValues& host);
void add_weight_primitives(egraph::EGraph& egraph, HostValues& host);
void add_gather_primitives(egraph::EGraph& egraph, HostValues& host);

}  // namespace luminal::search
