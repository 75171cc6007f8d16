// A planned graph as bytes, for files that this library writes for itself. Kernels that occur in
// several steps are there once.
#pragma once

#include "luminal/kernel/plan/planned_graph.h"
#include "luminal/shape/expr/expr_bytes.h"

namespace luminal::kernel {

// No step may be a library's: those aren't kept.
void write_plan(shape::ExprWriter& writer, const PlannedGraph& planned);
// The same planned graph; ByteError for bytes that aren't one, or one that verify_kernel refuses a
// kernel of. Whether it is one of a given graph is verify_plan's question.
PlannedGraph read_plan(shape::ExprReader& reader);

}  // namespace luminal::kernel
