// What a report says of each kernel beside its own figures: the nodes it computes, its roofline,
// and what it was chosen over.
#pragma once

#include <vector>

#include "luminal/driver/report.h"
#include "luminal/graph/graph.h"
#include "luminal/kernel/plan/planned_graph.h"
#include "luminal/search/cuts/explain_plan.h"

namespace luminal {

// Adds to the report's entries for the plan's kernels, which are its last ones.
void add_kernel_facts(const Graph& graph, const kernel::PlannedGraph& planned,
                      const std::vector<search::AbsorbedValue>& absorbed, CompileReport& report);

}  // namespace luminal
