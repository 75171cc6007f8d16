// Host primitives of rules/winograd.egg: the tables and maps of search/maps/winograd.h, by name.
#pragma once

#include "luminal/egraph/egraph.h"

namespace luminal::search {

class HostValues;

void add_winograd_primitives(egraph::EGraph& egraph, HostValues& host);

}  // namespace luminal::search
