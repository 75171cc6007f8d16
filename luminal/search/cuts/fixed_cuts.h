// fixed_cuts: what fixed rules of fusion store (FusionPolicy::Fixed). A measured search tries that
// plan too: it doesn't depend on the model, which may be wrong about many kernels in the same way.
//
// A kernel is what follows a reduction, up to the next one: a value is stored if several kernels
// read it, if a reader would compute its elements more than once, or if it depends on a reduction
// and is reduced again. Views and padding are part of their readers.
#pragma once

#include <vector>

#include "luminal/search/cuts/plan_cost.h"

namespace luminal::search {

// By class, with the terms that classes have at first.
std::vector<bool> fixed_cuts(const kernel::TermGraph& graph, const PlanCost& cost,
                             const Bindings& sizes);

}  // namespace luminal::search
