// verify_plan: whether a plan is one of a graph: steps come after what they read, what they hand
// over has the types on both sides, and the graph's results are in memory at the end.
#pragma once

#include <string>
#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/kernel/plan/planned_graph.h"

namespace luminal::kernel {

// Why it isn't one; empty where all is well. Kernels are verify_kernel's. That they compute what
// the graph says isn't looked at.
std::string verify_plan(const PlannedGraph& planned, const Graph& graph,
                        const std::vector<NodeId>& roots);

}  // namespace luminal::kernel
