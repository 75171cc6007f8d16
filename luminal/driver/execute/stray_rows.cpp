// Executable::Impl::judge_rows. It runs only after an error, so it may be slow.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/driver/execute/executable_impl.h"
#include "luminal/graph/interpret/stray_row.h"
#include "luminal/graph/traverse.h"
#include "luminal/shape/index/position.h"

namespace luminal {
namespace {

void check_rows(const Graph& graph, NodeId node, int64_t rows, const TensorData& index) {
  const std::vector<int64_t> values = index.to_ints();
  for (size_t k = 0; k < values.size(); ++k) {
    if (values[k] >= 0 && values[k] < rows) continue;
    const std::vector<int64_t> position = position_of(static_cast<int64_t>(k), index.dims);
    throw UserError(interpret::stray_row_text(graph, node, values[k], rows, position));
  }
}

bool is_rewritten(const Graph& graph, NodeId leaf) {
  return std::ranges::find(graph.updates(), leaf, &StateUpdate::state) != graph.updates().end();
}

}  // namespace

void Executable::Impl::judge_rows(const Bindings& bindings) const {
  // By now a run may have updated states, and weights may have been released.
  const auto is_there = [this](NodeId id) {
    if (graph->node(id).op != Op::Input) return true;
    return buffers[leaf_port.at(id)].valid() && !is_rewritten(*graph, id);
  };
  const interpret::LeafData leaf = leaf_data();
  std::optional<NodeId> unknown;
  for (NodeId id : topological_order(*graph, roots(*graph))) {
    const Node& node = graph->node(id);
    if (node.op != Op::Gather && node.op != Op::Scatter) continue;
    const NodeId index[] = {node.inputs[1]};
    if (!std::ranges::all_of(topological_order(*graph, index), is_there)) {
      unknown = id;
      continue;
    }
    interpret::Interpreter interpreter(*graph, bindings, leaf);
    const Expr::Value rows = graph->node(node.inputs[0]).dims[0].evaluate(bindings);
    check_rows(*graph, id, rows.value.value_or(0), interpreter.values(index)[0]);
  }
  if (!unknown) return;
  throw UserError(fmt::format(
      "run: an index is out of range, probably of {}, whose indices come from a state that this "
      "run rewrites or from weights that were released; check the index tensor {}",
      graph->describe(*unknown), graph->describe(graph->node(*unknown).inputs[1])));
}

}  // namespace luminal
