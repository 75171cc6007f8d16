#include "luminal/search/fusion/node_forms.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "luminal/graph/traverse.h"

namespace luminal::search {

NodeForms::NodeForms(const Graph& graph, const std::vector<NodeId>& roots)
    : graph_(graph),
      order_(topological_order(graph, roots)),
      is_root_(graph.size(), false),
      readers_(graph.size()) {
  for (NodeId root : roots) is_root_[root.index()] = true;
  for (NodeId id : order_) {
    for (NodeId input : node(id).inputs) readers_[input.index()].push_back(id);
  }
}

NodeId NodeForms::behind_views(NodeId id) const {
  while (is(id, Op::View)) id = node(id).inputs[0];
  return id;
}

NodeId NodeForms::behind_casts(NodeId id) const {
  while (is(id, Op::Cast)) id = node(id).inputs[0];
  return id;
}

NodeId NodeForms::behind(NodeId id) const {
  while (is(id, Op::View) || is(id, Op::Cast)) id = node(id).inputs[0];
  return id;
}

NodeId NodeForms::as_stored(NodeId id) const {
  if (!is(id, Op::Cast)) return id;
  const NodeId from = node(id).inputs[0];
  return node(id).dtype == DType::F32 && is_half(node(from).dtype) ? from : id;
}

std::optional<double> NodeForms::constant(NodeId id) const {
  const NodeId source = behind(id);
  if (!is(source, Op::Constant)) return std::nullopt;
  const auto& value = node(source).as<ConstantAttr>();
  return is_float(node(source).dtype) ? value.real : static_cast<double>(value.integer);
}

std::optional<NodeId> NodeForms::beside_constant(NodeId id, Op op, double number) const {
  if (!is(id, op)) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    if (constant(node(id).inputs[i]) == number) return node(id).inputs[1 - i];
  }
  return std::nullopt;
}

NodeForms::Scaled NodeForms::scaled(NodeId id) const {
  Scaled result{id, 1};
  while (is(result.base, Op::Mul)) {
    const std::vector<NodeId>& factors = node(result.base).inputs;
    const auto first = constant(factors[0]);
    const auto second = constant(factors[1]);
    if (first.has_value() == second.has_value()) break;
    result.factor *= first ? *first : *second;
    result.base = factors[first ? 1 : 0];
  }
  return result;
}

std::optional<NodeId> NodeForms::sigmoid_power(NodeId id) const {
  if (!is(id, Op::Recip)) return std::nullopt;
  const auto power = beside_constant(node(id).inputs[0], Op::Add, 1.0);
  return power && is(*power, Op::Exp2) ? power : std::nullopt;
}

std::optional<NodeId> NodeForms::silu_operand(NodeId id) const {
  const NodeId product = behind_casts(id);
  if (!is(product, Op::Mul)) return std::nullopt;
  const std::vector<NodeId>& factors = node(product).inputs;
  for (size_t i = 0; i < 2; ++i) {
    const auto power = sigmoid_power(factors[i]);
    if (!power) continue;
    const Scaled exponent = scaled(node(*power).inputs[0]);
    const bool is_sigmoid = std::abs(exponent.factor + std::numbers::log2e) < 1e-6;
    if (is_sigmoid && exponent.base == factors[1 - i]) return exponent.base;
  }
  return std::nullopt;
}

std::optional<NodeForms::Projection> NodeForms::product(NodeId sum) const {
  const Node& reduce = node(sum);
  if (reduce.op != Op::Reduce || reduce.as<ReduceAttr>().reducer != Reducer::Sum) return {};
  const NodeId product = reduce.inputs[0];
  if (!is(product, Op::Mul) || reduce.dims.empty()) return {};
  const std::vector<NodeId>& factors = node(product).inputs;
  // A square is summed, not projected.
  if (!is(factors[0], Op::View) || !is(factors[1], Op::View)) return {};
  const NodeId rows = behind(factors[0]);
  if (rows == behind(factors[1])) return {};
  return Projection{.rows = rows,
                    .sum = sum,
                    .columns = reduce.dims.back(),
                    .summed = node(product).dims.back(),
                    .storing = sum};
}

std::optional<NodeForms::Projection> NodeForms::projection(NodeId id) const {
  const NodeId storing = behind_views(id);
  NodeId inner = storing;
  if (is(inner, Op::Add)) {
    // A bias: the same for all rows.
    const std::vector<NodeId>& terms = node(inner).inputs;
    const auto is_bias = [&](NodeId term) { return node(behind(term)).dims.size() <= 1; };
    if (is_bias(terms[0]) == is_bias(terms[1])) return {};
    inner = terms[is_bias(terms[0]) ? 1 : 0];
  }
  std::optional<Projection> found = product(behind(inner));
  if (found) found->storing = storing;
  return found;
}

}  // namespace luminal::search
