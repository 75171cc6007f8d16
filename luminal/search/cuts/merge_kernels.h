// merge_kernels: horizontal ("sideways") fusion. Kernels of a plan over the same outer loops become
// one launch with several outputs if they read the same data, or if one reads what the other
// stores.
#pragma once

#include <functional>
#include <vector>

#include "luminal/kernel/plan/plan.h"
#include "luminal/search/cuts/find_plan.h"

namespace luminal::search {

// A kernel of the plan with each choice of its outer loops.
using Variants = std::function<std::vector<kernel::LoweredKernel>(const kernel::LoweredKernel&)>;

// Merges two steps at a time, in their order, while the model says that it pays. Steps stay in
// topological order.
void merge_kernels(kernel::Plan& plan, const kernel::TermGraph& graph, const PlanRequest& request,
                   const SearchOptions& options, const Variants& variants);

}  // namespace luminal::search
