// merge_kernels: sideways fusion. Kernels of a plan over the same outer points become one launch
// with several outputs where they read the same data, or one what the other stores.
#pragma once

#include <functional>
#include <vector>

#include "luminal/kernel/plan/plan.h"
#include "luminal/search/cuts/find_plan.h"

namespace luminal::search {

// A kernel of the plan with each choice of its outer loops.
using Variants = std::function<std::vector<kernel::LoweredKernel>(const kernel::LoweredKernel&)>;

// Merges two steps at a time, in their order, while the model says that it pays. Steps keep to an
// order that their data allows.
void merge_kernels(kernel::Plan& plan, const kernel::TermGraph& graph, const PlanRequest& request,
                   const SearchOptions& options, const Variants& variants);

}  // namespace luminal::search
