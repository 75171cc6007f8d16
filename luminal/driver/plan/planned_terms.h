// From terms with a plan to a planned graph for a backend: for compile() and for measured search.
#pragma once

#include <memory>
#include <vector>

#include "luminal/driver/report.h"
#include "luminal/kernel/plan/pack_weights.h"
#include "luminal/kernel/plan/planned_graph.h"
#include "luminal/search/rolling/unroll_plan.h"

namespace luminal {

// Takes the graph and the plan out of `terms`. Nothing is packed yet.
std::shared_ptr<kernel::PlannedGraph> planned_graph(search::PlannedTerms& terms);

// The input of pack_weights(). `planned` is planned_graph(terms).
kernel::PackRequest pack_request(const Graph& graph, const std::vector<NodeId>& roots,
                                 const search::PlannedTerms& terms,
                                 const kernel::PlannedGraph& planned,
                                 const kernel::Packing& packing, int first_kernel);

// Adds an entry for each kernel of `planned`, packed or not.
void report_kernels(const kernel::PlannedGraph& planned, const search::PlannedTerms& terms,
                    const search::SearchOptions& options, CompileReport& report);

}  // namespace luminal
