#include "apps/bench/networks/greedy_kernels.h"

#include <algorithm>
#include <optional>
#include <set>

#include "luminal/base/ids.h"
#include "luminal/graph/tensor.h"
#include "luminal/graph/traverse.h"

namespace luminal::bench {
namespace {

// What is stored decides which kernels have a reduction before a value, and that decides what is
// stored; a few passes settle it.
constexpr int kPasses = 4;

struct Use {
  NodeId reader;
  bool repeated;  // the reader has several elements for one of the value: computing it there would
                  // repeat the work
};

class GreedyKernels {
 public:
  explicit GreedyKernels(const Graph& graph)
      : graph_(graph),
        roots_(roots(graph)),
        order_(topological_order(graph, roots_)),
        uses_(graph.size()),
        group_(graph.size()),
        only_padded_(graph.size(), false),
        stored_(graph.size(), false) {
    for (NodeId id : order_) {
      if (const auto value = padded(id)) only_padded_[value->index()] = true;
    }
    for (NodeId id : order_) {
      if (!is_view(id) || is_root(id)) find_uses(id);
    }
    for (int pass = 0; pass < kPasses; ++pass) run();
  }

  std::vector<NodeId> stored() const {
    std::vector<NodeId> list;
    for (NodeId id : order_) {
      if (stored_[id.index()]) list.push_back(id);
    }
    return list;
  }

 private:
  bool is_root(NodeId id) const { return std::ranges::find(roots_, id) != roots_.end(); }

  bool is_reduction(NodeId id) const {
    const Op op = graph_.node(id).op;
    return op == Op::Reduce || op == Op::Scan;
  }

  bool is_leaf(NodeId id) const { return graph_.node(id).inputs.empty(); }

  // What lies under views of a node.
  NodeId base(NodeId id) const {
    while (graph_.node(id).op == Op::View) id = graph_.node(id).inputs[0];
    return id;
  }

  // The value that padding surrounds with a constant, which kernels read like a view.
  std::optional<NodeId> padded(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.op != Op::Select || graph_.node(base(node.inputs[0])).op != Op::Iota) return {};
    const auto is_constant = [&](NodeId input) {
      return graph_.node(base(input)).op == Op::Constant;
    };
    if (is_constant(node.inputs[2])) return node.inputs[1];
    if (is_constant(node.inputs[1])) return node.inputs[2];
    return {};
  }

  bool is_view(NodeId id) const { return graph_.node(id).op == Op::View || padded(id).has_value(); }
  bool computes(NodeId id) const { return !is_leaf(id) && !is_view(id); }

  double elements(NodeId id) const {
    return static_cast<double>(n_elements(graph_.node(id).dims).to_int().value());
  }

  void find_uses(NodeId reader) {
    if (is_view(reader)) return add_use(reader, reader);
    for (NodeId input : graph_.node(reader).inputs) add_use(reader, input);
  }

  void add_use(NodeId reader, NodeId value) {
    bool repeated = false;
    while (is_view(value)) {
      const NodeId under = padded(value).value_or(graph_.node(value).inputs[0]);
      repeated |= graph_.node(value).op == Op::View && !only_padded_[value.index()] &&
                  elements(value) > elements(under);
      value = under;
    }
    if (!is_leaf(value)) uses_[value.index()].push_back({reader, repeated});
  }

  // Values from the last to the first: readers are in kernels already.
  void run() {
    const std::vector<bool> summed = summed_before();
    std::vector<bool> in_sum(graph_.size(), false), has_reduction(graph_.size(), false);
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const NodeId id = *it;
      if (!computes(id) && !is_root(id)) continue;
      std::set<NodeId> kernels;
      bool repeated = false;
      for (const Use& use : uses_[id.index()]) {
        kernels.insert(group_[use.reader.index()]);
        repeated |= use.repeated;
        in_sum[id.index()] = in_sum[id.index()] || is_reduction(use.reader) ||
                             (in_sum[use.reader.index()] && !stored_[use.reader.index()]);
      }
      const bool store = is_root(id) || kernels.size() != 1 || repeated ||
                         (in_sum[id.index()] && summed[id.index()]) ||
                         (is_reduction(id) && has_reduction[kernels.begin()->index()]);
      stored_[id.index()] = store;
      group_[id.index()] = store ? id : *kernels.begin();
      if (is_reduction(id)) has_reduction[group_[id.index()].index()] = true;
    }
  }

  // By node: whether a kernel that computes it computes a reduction, if what was last stored is.
  std::vector<bool> summed_before() const {
    std::vector<bool> summed(graph_.size(), false);
    for (NodeId id : order_) {
      if (is_reduction(id)) summed[id.index()] = true;
      if (!summed[id.index()] || stored_[id.index()]) continue;
      for (const Use& use : uses_[id.index()]) {
        if (!use.repeated) summed[use.reader.index()] = true;
      }
    }
    return summed;
  }

  const Graph& graph_;
  std::vector<NodeId> roots_;
  std::vector<NodeId> order_;
  std::vector<std::vector<Use>> uses_;  // by value, behind views
  std::vector<NodeId> group_;           // by value: the result of the kernel that computes it
  // By view: it is the inside of a padding, which repeats elements only where they aren't read.
  std::vector<bool> only_padded_;
  std::vector<bool> stored_;
};

}  // namespace

std::vector<NodeId> greedy_kernels(const Graph& graph) { return GreedyKernels(graph).stored(); }

void fix_greedy_kernels(Graph& graph) {
  for (NodeId id : greedy_kernels(graph)) graph.tensor(id).materialize();
}

}  // namespace luminal::bench
