// A plan read from bytes instead of made.
#pragma once

#include <memory>

#include "luminal/driver/compile/compile_parts.h"
#include "luminal/kernel/plan/planned_graph.h"

namespace luminal {

// ByteError for bytes that aren't a plan of this graph.
std::shared_ptr<const kernel::PlannedGraph> read_given_plan(const CompiledParts& given,
                                                            const Graph& graph,
                                                            const InspectOptions& inspect,
                                                            CompileReport& report);

}  // namespace luminal
