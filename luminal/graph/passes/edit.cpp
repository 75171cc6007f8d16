#include "luminal/graph/edit.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/graph/traverse.h"

namespace luminal {

// The one class that may change nodes in place.
class GraphEditor {
 public:
  static int replace_uses(Graph& graph, NodeId from, NodeId to) {
    int replaced = 0;
    auto swap_id = [&](NodeId& id) {
      if (id != from) return;
      id = to;
      ++replaced;
    };
    const std::vector<bool> needed_by_to = needed_by(graph, to);
    for (uint32_t i = 0; i < graph.size(); ++i) {
      Node& node = graph.nodes_[i];
      if (node.removed || needed_by_to[i]) continue;
      for (NodeId& input : node.inputs) swap_id(input);
    }
    for (Output& output : graph.outputs_) swap_id(output.node);
    for (StateUpdate& update : graph.updates_) swap_id(update.value);
    for (Probe& probe : graph.probes_) swap_id(probe.node);
    if (replaced > 0 && graph.node(from).materialized) graph.nodes_[to.index()].materialized = true;
    return replaced;
  }

  static void replace_variable(Graph& graph, Expr variable, Expr by) {
    auto replaced = [&](std::vector<Expr> exprs) {
      for (Expr& e : exprs) e = e.substitute(variable, by);
      return exprs;
    };
    for (Node& node : graph.nodes_) {
      node.dims = replaced(node.dims);
      if (auto* iota = std::get_if<IotaAttr>(&node.attribute)) {
        iota->expr = iota->expr.substitute(variable, by);
      } else if (auto* map = std::get_if<IndexMap>(&node.attribute)) {
        *map =
            IndexMap(replaced(map->dims()), replaced(map->source_dims()), replaced(map->exprs()));
      }
    }
  }

  static int remove_dead(Graph& graph) {
    std::vector<bool> alive(graph.size(), false);
    for (NodeId id : topological_order(graph, roots(graph))) alive[id.index()] = true;
    int removed = 0;
    for (uint32_t i = 0; i < graph.size(); ++i) {
      Node& node = graph.nodes_[i];
      if (alive[i] || node.removed || node.op == Op::Input) continue;
      node.removed = true;
      node.inputs.clear();
      ++removed;
    }
    return removed;
  }

  static std::optional<std::variant<TensorData, DataLoader>> data(const Graph& graph, NodeId id) {
    auto it = graph.data_.find(id);
    if (it == graph.data_.end()) return std::nullopt;
    return it->second;
  }

 private:
  // `to` and everything it reads: a use inside would become a cycle.
  static std::vector<bool> needed_by(const Graph& graph, NodeId to) {
    std::vector<bool> needed(graph.size(), false);
    for (NodeId id : topological_order(graph, {&to, 1})) needed[id.index()] = true;
    return needed;
  }
};

int replace_uses(const Tensor& from, const Tensor& to) {
  if (&from.graph() != &to.graph()) {
    throw UserError(fmt::format("replace_uses: {} and {} belong to different graphs",
                                from.describe(), to.describe()));
  }
  if (from.dtype() != to.dtype() || !same_dims(from.dims(), to.dims())) {
    throw UserError(fmt::format("replace_uses: {} is {}{}, {} is {}{}; they must be equal",
                                from.describe(), name(from.dtype()), text(from.dims()),
                                to.describe(), name(to.dtype()), text(to.dims())));
  }
  if (from.id() == to.id()) return 0;
  return GraphEditor::replace_uses(from.graph(), from.id(), to.id());
}

int remove_dead(Graph& graph) { return GraphEditor::remove_dead(graph); }

std::vector<Tensor> copy_subgraph(const Graph& from, std::span<const NodeId> roots, Graph& into,
                                  const std::unordered_map<NodeId, Tensor>& inputs) {
  std::unordered_map<NodeId, Tensor> copies = inputs;
  // Depth first with a stack of its own, stopping at what is given.
  std::vector<NodeId> stack(roots.begin(), roots.end());
  while (!stack.empty()) {
    const NodeId id = stack.back();
    if (copies.contains(id)) {
      stack.pop_back();
      continue;
    }
    const Node& node = from.node(id);
    bool ready = true;
    for (size_t i = node.inputs.size(); i-- > 0;) {
      if (copies.contains(node.inputs[i])) continue;
      stack.push_back(node.inputs[i]);
      ready = false;
    }
    if (!ready) continue;
    stack.pop_back();
    Node copy = node;
    for (NodeId& input : copy.inputs) input = copies.at(input).id();
    Tensor added = into.add(std::move(copy));
    if (auto data = GraphEditor::data(from, id)) {
      std::visit([&](const auto& d) { added.set(d); }, *data);
    }
    copies.emplace(id, added);
  }
  std::vector<Tensor> results;
  for (NodeId root : roots) results.push_back(copies.at(root));
  return results;
}

std::unique_ptr<Graph> with_variable(const Graph& graph, Expr variable, Expr by) {
  std::unique_ptr<Graph> copy = graph.clone();
  GraphEditor::replace_variable(*copy, variable, by);
  return copy;
}

}  // namespace luminal
