// What did not fuse, in the words of the graph.
#pragma once

#include <vector>

#include "luminal/driver/report.h"
#include "luminal/graph/graph.h"
#include "luminal/kernel/plan/planned_graph.h"
#include "luminal/search/cuts/explain_plan.h"

namespace luminal {

// Adds an entry to the report for each value; its kernels are already there.
void report_stored(const Graph& graph, const kernel::PlannedGraph& planned,
                   const std::vector<search::StoredValue>& values, CompileReport& report);

}  // namespace luminal
