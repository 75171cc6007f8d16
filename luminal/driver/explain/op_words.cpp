#include "luminal/driver/explain/op_words.h"

#include <algorithm>

namespace luminal {
namespace {

class Words {
 public:
  Words(const Graph& graph, std::span<const NodeId> computed)
      : graph_(graph), computed_(computed) {}

  bool has(Op op) const {
    return std::ranges::any_of(computed_, [&](NodeId id) { return graph_.node(id).op == op; });
  }
  int64_t count(Reducer reducer) const {
    return std::ranges::count_if(computed_, [&](NodeId id) {
      const Node& node = graph_.node(id);
      return node.op == Op::Reduce && node.as<ReduceAttr>().reducer == reducer;
    });
  }

  bool is_softmax() const { return has(Op::Exp2) && count(Reducer::Max) > 0; }
  // 1 / √x, of a sum that may come from another kernel.
  bool is_norm() const {
    return std::ranges::any_of(computed_, [&](NodeId id) {
      const Node& node = graph_.node(id);
      return node.op == Op::Recip && graph_.node(behind(node.inputs[0])).op == Op::Sqrt;
    });
  }

  // 1 / (1 + 2^x), and whether it is multiplied with the very value that x is made of.
  bool is_sigmoid(NodeId id) const { return power_of(id).valid(); }
  bool is_silu(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.op != Op::Mul) return false;
    for (size_t i = 0; i < 2; ++i) {
      const NodeId power = power_of(behind(node.inputs[i]));
      if (!power.valid()) continue;
      if (unscaled(graph_.node(power).inputs[0]) == unscaled(node.inputs[1 - i])) return true;
    }
    return false;
  }

  // By a number.
  bool is_scaled(NodeId id) const { return unscaled(id) != behind(id); }

  template <typename Predicate>
  bool any(Predicate predicate) const {
    return std::ranges::any_of(computed_, predicate);
  }

 private:
  NodeId behind(NodeId id) const {
    while (graph_.node(id).op == Op::View || graph_.node(id).op == Op::Cast) {
      id = graph_.node(id).inputs[0];
    }
    return id;
  }

  // Behind factors that are constant.
  NodeId unscaled(NodeId id) const {
    for (id = behind(id); graph_.node(id).op == Op::Mul; id = behind(id)) {
      const std::vector<NodeId>& factors = graph_.node(id).inputs;
      const auto is_constant = [&](NodeId factor) {
        return graph_.node(behind(factor)).op == Op::Constant;
      };
      if (is_constant(factors[0]) == is_constant(factors[1])) return id;
      id = is_constant(factors[0]) ? factors[1] : factors[0];
    }
    return id;
  }

  // The Exp2 of a sigmoid.
  NodeId power_of(NodeId id) const {
    const Node& recip = graph_.node(id);
    if (recip.op != Op::Recip) return {};
    const Node& sum = graph_.node(behind(recip.inputs[0]));
    if (sum.op != Op::Add) return {};
    for (NodeId term : sum.inputs) {
      if (graph_.node(behind(term)).op == Op::Exp2) return behind(term);
    }
    return {};
  }

  const Graph& graph_;
  std::span<const NodeId> computed_;
};

}  // namespace

OpWords op_words(const Graph& graph, std::span<const NodeId> computed,
                 std::span<const NodeId> results, size_t n_matrices) {
  const Words words(graph, computed);
  const bool looks_up = words.has(Op::Gather);
  const bool multiplies = n_matrices > (looks_up ? 1 : 0);
  OpWords found;
  std::vector<std::string>& after = found.after;
  if (looks_up) after.push_back("lookup");
  if (words.is_norm()) (multiplies ? found.before : after).push_back("norm");
  if (words.has(Op::Sin)) after.push_back("rope");
  if (words.is_softmax()) after.push_back(words.count(Reducer::Sum) > 2 ? "attention" : "softmax");
  if (words.any([&](NodeId id) { return words.is_silu(id); })) {
    after.push_back("silu");
  } else if (words.any([&](NodeId id) { return words.is_sigmoid(id); })) {
    after.push_back("sigmoid");
  }
  for (NodeId id : results) {
    const Op op = graph.node(id).op;
    const bool combines =
        op == Op::Add || (op == Op::Mul && !words.is_silu(id) && !words.is_scaled(id));
    const char* word = op == Op::Mul ? "mul" : "add";
    if (combines && (after.empty() || after.back() != word)) after.push_back(word);
  }
  if (found.before.empty() && after.empty() && !multiplies) {
    if (words.count(Reducer::Sum) > 0) after.push_back("sum");
    if (words.count(Reducer::Max) > 0) after.push_back("max");
  }
  return found;
}

}  // namespace luminal
