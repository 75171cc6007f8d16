// Changing a graph: for tools and importers. Handles to nodes that stay keep their meaning.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// Every reader of `from`, and every output, update and probe of it, uses `to` instead: same dims
// and dtype. `to` itself may read `from` and keeps doing so. Returns the number of uses replaced.
LUMINAL_API int replace_uses(const Tensor& from, const Tensor& to);

// Removes the nodes that no output, kept tensor, update or probe needs; leaves stay. Their ids are
// not used again. Returns how many went.
LUMINAL_API int remove_dead(Graph& graph);

// Copies what `roots` need into `into`. Leaves named in `inputs` (by node id of the source) become
// the given tensors of `into` and nothing above them is copied. Returns the copies of `roots`.
LUMINAL_API std::vector<Tensor> copy_subgraph(
    const Graph& from, std::span<const NodeId> roots, Graph& into,
    const std::unordered_map<NodeId, Tensor>& inputs = {});

// The same nodes with the same ids, with `variable` replaced by `by`, which keeps to its bounds:
// one with narrower ones, or a constant.
LUMINAL_API std::unique_ptr<Graph> with_variable(const Graph& graph, Expr variable, Expr by);

}  // namespace luminal
