#include "luminal/graph/interpret/storage_plan.h"

#include <algorithm>

#include "luminal/graph/op_subsets.h"
#include "luminal/graph/traverse.h"

namespace luminal::interpret {
namespace {

// Recomputing an element is cheaper than storing it up to about this many ops.
constexpr int64_t kCheap = 32;
// No value is recomputed through more ops than this, which bounds time and recursion depth.
constexpr int64_t kMostInline = 512;
// Values with fewer elements are stored regardless of memory.
constexpr int64_t kSmall = 1 << 16;

bool always_stored(Op op) {
  const std::optional<StructuralOp> structural = structural_op(op);
  if (!structural) return false;
  switch (*structural) {
    case StructuralOp::Reduce:
    case StructuralOp::Scan:
    case StructuralOp::Scatter:
    case StructuralOp::Custom:
      return true;
    case StructuralOp::Input:
    case StructuralOp::Constant:
    case StructuralOp::Iota:
    case StructuralOp::View:
    case StructuralOp::Gather:
      return false;
  }
  return true;
}

bool never_stored(Op op) { return op_class(op) == OpClass::Leaf; }

// The cost of reading one element through a node, and how many elements it is computed from.
struct Reading {
  int64_t cost = 1;
  int64_t fed_by = 0;
};

// The stored nodes that a node reads, directly or through nodes that aren't stored.
std::vector<NodeId> stored_reads(const Graph& graph, NodeId id, const std::vector<bool>& stored) {
  std::vector<NodeId> reads;
  std::vector<NodeId> stack = graph.node(id).inputs;
  while (!stack.empty()) {
    NodeId at = stack.back();
    stack.pop_back();
    if (stored[at.index()]) {
      reads.push_back(at);
      continue;
    }
    const auto& inputs = graph.node(at).inputs;
    stack.insert(stack.end(), inputs.begin(), inputs.end());
  }
  return reads;
}

}  // namespace

StoragePlan plan_storage(const Graph& graph, std::span<const NodeId> roots,
                         const std::vector<int64_t>& elements) {
  const std::vector<NodeId> order = topological_order(graph, roots);
  std::vector<int> readers(graph.size(), 0);
  for (NodeId id : order) {
    for (NodeId input : graph.node(id).inputs) ++readers[input.index()];
  }

  StoragePlan plan;
  plan.stored.assign(graph.size(), false);
  std::vector<Reading> reading(graph.size());
  for (NodeId id : order) {
    const Node& node = graph.node(id);
    Reading here;
    for (NodeId input : node.inputs) {
      here.cost = std::min(here.cost + reading[input.index()].cost, 2 * kMostInline);
      here.fed_by += std::min(reading[input.index()].fed_by, INT64_MAX / 8);
    }
    const int64_t count = elements[id.index()];
    const bool shared = readers[id.index()] > 1 && here.cost > 2 && node.op != Op::View;
    const bool expensive = here.cost > kCheap && node.op != Op::View;
    // An expanded value has more elements than its sources: storing it is what must be avoided.
    const bool fits = count <= kSmall || count <= here.fed_by;
    const bool stored =
        !never_stored(node.op) &&
        (always_stored(node.op) || here.cost > kMostInline || ((shared || expensive) && fits));
    if (stored) {
      plan.stored[id.index()] = true;
      plan.steps.push_back(id);
    }
    if (stored || never_stored(node.op)) here = {.cost = 1, .fed_by = count};
    reading[id.index()] = here;
  }

  std::vector<size_t> last_reader(graph.size(), SIZE_MAX);
  for (size_t step = 0; step < plan.steps.size(); ++step) {
    for (NodeId read : stored_reads(graph, plan.steps[step], plan.stored)) {
      last_reader[read.index()] = step;
    }
  }
  for (NodeId root : roots) {  // read at the end, after all steps
    if (plan.stored[root.index()]) last_reader[root.index()] = SIZE_MAX;
    for (NodeId read : stored_reads(graph, root, plan.stored)) {
      if (!plan.stored[root.index()]) last_reader[read.index()] = SIZE_MAX;
    }
  }
  plan.finished.resize(plan.steps.size());
  for (NodeId id : plan.steps) {
    if (last_reader[id.index()] != SIZE_MAX) plan.finished[last_reader[id.index()]].push_back(id);
  }
  return plan;
}

}  // namespace luminal::interpret
