// verify_plan: checks that a plan belongs to a graph: steps come after what they read, types agree
// on both sides of a hand-over, and the graph's results are in memory at the end.
#pragma once

#include <string>
#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/kernel/plan/planned_graph.h"

namespace luminal::kernel {

// The reason why it doesn't; empty if it does. Kernels are checked by verify_kernel; whether they
// compute what the graph says isn't checked.
std::string verify_plan(const PlannedGraph& planned, const Graph& graph,
                        const std::vector<NodeId>& roots);

}  // namespace luminal::kernel
