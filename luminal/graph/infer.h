// The type rule of every primitive: what a node's inputs must be, and what its result is.
#pragma once

#include "luminal/graph/custom_op.h"
#include "luminal/graph/graph.h"

namespace luminal {

// The type of `node`, whose inputs are nodes of `graph`. For leaves, Cast and Bitcast the node's
// own dtype (and dims) are what was asked for. Throws UserError naming the op, the tensors and the
// way out.
TensorType infer_type(const Graph& graph, const Node& node);

}  // namespace luminal
