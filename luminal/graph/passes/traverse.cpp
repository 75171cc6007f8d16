#include "luminal/graph/traverse.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "luminal/base/errors.h"

namespace luminal {
namespace {

// Marks what `roots` need, walking inputs with a stack of its own: graphs may be deep.
std::vector<bool> reachable(const Graph& graph, std::span<const NodeId> roots) {
  std::vector<bool> seen(graph.size(), false);
  std::vector<NodeId> stack(roots.begin(), roots.end());
  while (!stack.empty()) {
    NodeId id = stack.back();
    stack.pop_back();
    if (seen[id.index()]) continue;
    seen[id.index()] = true;
    for (NodeId input : graph.node(id).inputs) stack.push_back(input);
  }
  return seen;
}

std::vector<NodeId> order_of(const Graph& graph, const std::vector<bool>& wanted) {
  std::vector<uint32_t> missing(graph.size(), 0);
  std::vector<std::vector<NodeId>> readers(graph.size());
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  size_t count = 0;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!wanted[i]) continue;
    ++count;
    const Node& node = graph.node(NodeId{i});
    missing[i] = static_cast<uint32_t>(node.inputs.size());
    for (NodeId input : node.inputs) readers[input.index()].push_back(NodeId{i});
    if (node.inputs.empty()) ready.push(NodeId{i});
  }
  std::vector<NodeId> order;
  order.reserve(count);
  while (!ready.empty()) {
    NodeId id = ready.top();
    ready.pop();
    order.push_back(id);
    for (NodeId reader : readers[id.index()]) {
      if (--missing[reader.index()] == 0) ready.push(reader);
    }
  }
  if (order.size() != count) {
    for (uint32_t i = 0; i < graph.size(); ++i) {
      if (wanted[i] && missing[i] != 0) {
        throw UserError("the graph has a cycle through " + graph.describe(NodeId{i}) +
                        "; an edit made a node read its own result");
      }
    }
  }
  return order;
}

}  // namespace

std::vector<NodeId> topological_order(const Graph& graph) {
  std::vector<bool> alive(graph.size());
  for (uint32_t i = 0; i < graph.size(); ++i) alive[i] = !graph.node(NodeId{i}).removed;
  return order_of(graph, alive);
}

std::vector<NodeId> topological_order(const Graph& graph, std::span<const NodeId> roots) {
  return order_of(graph, reachable(graph, roots));
}

std::vector<std::vector<NodeId>> consumers(const Graph& graph) {
  std::vector<std::vector<NodeId>> readers(graph.size());
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(NodeId{i});
    if (node.removed) continue;
    for (NodeId input : node.inputs) readers[input.index()].push_back(NodeId{i});
  }
  return readers;
}

std::vector<NodeId> roots(const Graph& graph) {
  std::vector<NodeId> ids;
  for (const Output& output : graph.outputs()) ids.push_back(output.node);
  for (const StateUpdate& update : graph.updates()) ids.push_back(update.value);
  for (const Probe& probe : graph.probes()) ids.push_back(probe.node);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace luminal
