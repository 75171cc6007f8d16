#include "luminal/driver/stray_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/graph/interpret/stray_row.h"
#include "luminal/graph/traverse.h"

namespace luminal {
namespace {

void check_rows(const Graph& graph, NodeId node, int64_t rows, const TensorData& index) {
  const std::vector<int64_t> values = index.to_ints();
  for (size_t k = 0; k < values.size(); ++k) {
    if (values[k] >= 0 && values[k] < rows) continue;
    const std::vector<int64_t> position =
        interpret::position_of(static_cast<int64_t>(k), index.dims);
    throw UserError(interpret::stray_row_text(graph, node, values[k], rows, position));
  }
}

}  // namespace

// A run may have rewritten states by now, and weights may be gone.
bool StrayRows::is_there(NodeId id) const {
  const Node& node = graph_.node(id);
  if (node.op != Op::Input) return true;
  return has_leaf_(id) &&
         std::ranges::find(graph_.updates(), id, &StateUpdate::state) == graph_.updates().end();
}

void StrayRows::judge() {
  std::optional<NodeId> unknown;
  for (NodeId id : topological_order(graph_, roots(graph_))) {
    const Node& node = graph_.node(id);
    if (node.op != Op::Gather && node.op != Op::Scatter) continue;
    const NodeId index[] = {node.inputs[1]};
    const std::vector<NodeId> sources = topological_order(graph_, index);
    if (!std::ranges::all_of(sources, [&](NodeId source) { return is_there(source); })) {
      unknown = id;
      continue;
    }
    interpret::Interpreter interpreter(graph_, bindings_, leaf_);
    const Expr::Value rows = graph_.node(node.inputs[0]).dims[0].evaluate(bindings_);
    check_rows(graph_, id, rows.value.value_or(0), interpreter.values(index)[0]);
  }
  if (!unknown) return;
  throw UserError(fmt::format(
      "run: an index lies outside of its dim, probably of {}, whose indices come from a state that "
      "this run rewrites or from weights that were released; check the index tensor {}",
      graph_.describe(*unknown), graph_.describe(graph_.node(*unknown).inputs[1])));
}

}  // namespace luminal
