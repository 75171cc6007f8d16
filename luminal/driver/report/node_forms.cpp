#include "luminal/driver/report/node_forms.h"

#include <cmath>
#include <numbers>

namespace luminal {

NodeId NodeForms::behind(NodeId id) const {
  while (is(id, Op::View) || is(id, Op::Cast)) id = node(id).inputs[0];
  return id;
}

std::optional<double> NodeForms::constant(NodeId id) const {
  const NodeId source = behind(id);
  if (!is(source, Op::Constant)) return std::nullopt;
  const auto& value = node(source).as<ConstantAttr>();
  return is_float(node(source).dtype) ? value.real : static_cast<double>(value.integer);
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
  const NodeId sum = node(id).inputs[0];
  if (!is(sum, Op::Add)) return std::nullopt;
  const std::vector<NodeId>& terms = node(sum).inputs;
  for (size_t i = 0; i < 2; ++i) {
    if (constant(terms[i]) == 1.0 && is(terms[1 - i], Op::Exp2)) return terms[1 - i];
  }
  return std::nullopt;
}

std::optional<NodeId> NodeForms::silu_operand(NodeId id) const {
  while (is(id, Op::Cast)) id = node(id).inputs[0];
  if (!is(id, Op::Mul)) return std::nullopt;
  const std::vector<NodeId>& factors = node(id).inputs;
  for (size_t i = 0; i < 2; ++i) {
    const auto power = sigmoid_power(factors[i]);
    if (!power) continue;
    const Scaled exponent = scaled(node(*power).inputs[0]);
    const bool is_sigmoid = std::abs(exponent.factor + std::numbers::log2e) < 1e-6;
    if (is_sigmoid && exponent.base == factors[1 - i]) return exponent.base;
  }
  return std::nullopt;
}

}  // namespace luminal
