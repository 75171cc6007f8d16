#include "luminal/graph/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "luminal/base/errors.h"
#include "luminal/graph/infer.h"
#include "luminal/graph/traverse.h"

namespace luminal {
namespace {

// Collects variables; most expressions are seen many times, so each is walked once.
class VariableCollector {
 public:
  void add(Expr expr) {
    if (expr.kind() == ExprKind::Const || !seen_.insert(expr).second) return;
    for (Expr variable : expr.variables()) {
      if (seen_variables_.insert(variable).second) variables_.push_back(variable);
    }
  }
  void add(const Node& node) {
    for (Expr dim : node.dims) add(dim);
    if (const auto* map = std::get_if<IndexMap>(&node.attribute)) {
      for (Expr expr : map->exprs()) add(expr);
    } else if (const auto* iota = std::get_if<IotaAttr>(&node.attribute)) {
      add(iota->expr);
    }
  }
  std::vector<Expr> take() {
    std::sort(variables_.begin(), variables_.end(),
              [](Expr a, Expr b) { return compare(a, b) < 0; });
    return std::move(variables_);
  }

 private:
  std::unordered_set<Expr> seen_;
  std::unordered_set<Expr> seen_variables_;
  std::vector<Expr> variables_;
};

// A division whose divisor is 0 whatever the variables are, anywhere in an expression.
class ZeroDivision {
 public:
  std::optional<Expr> find(Expr expr) {
    if (expr.kind() == ExprKind::Index || !seen_.insert(expr).second) return std::nullopt;
    const bool divides = expr.kind() == ExprKind::FloorDiv || expr.kind() == ExprKind::CeilDiv ||
                         expr.kind() == ExprKind::Mod;
    if (divides && expr.operands()[1].is(0)) return expr;
    for (Expr operand : expr.operands()) {
      if (const auto found = find(operand)) return found;
    }
    return std::nullopt;
  }

 private:
  std::unordered_set<Expr> seen_;
};

// Over no elements, and of a tensor without any, nothing is evaluated that anybody uses.
void verify_divisions(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto* map = std::get_if<IndexMap>(&node.attribute);
  const auto* iota = std::get_if<IotaAttr>(&node.attribute);
  const auto is_empty = [](const Dims& dims) {
    return std::ranges::any_of(dims, [](Expr dim) { return dim.is(0); });
  };
  if (is_empty(node.dims) || (map != nullptr && is_empty(map->source_dims()))) return;
  ZeroDivision divisions;
  const auto check = [&](Expr expr) {
    if (const auto found = divisions.find(expr)) {
      throw UserError(fmt::format("verify: {} divides by zero: {}; use a divisor that isn't 0",
                                  graph.describe(id), found->text()));
    }
  };
  if (iota != nullptr) check(iota->expr);
  if (map == nullptr) return;
  for (Expr expr : map->exprs()) check(expr);
}

void verify_node(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  for (NodeId input : node.inputs) {
    if (input.index() >= graph.size() || graph.node(input).removed) {
      throw UserError(fmt::format("verify: {} reads %{}, which is not in the graph",
                                  graph.describe(id), input.value));
    }
  }
  TensorType type = infer_type(graph, node);
  if (type.dtype != node.dtype || !same_dims(type.dims, node.dims)) {
    throw UserError(fmt::format("verify: {} is declared {}{}, but its inputs make it {}{}",
                                graph.describe(id), name(node.dtype), text(node.dims),
                                name(type.dtype), text(type.dims)));
  }
  verify_divisions(graph, id);
}

void verify_use(const Graph& graph, NodeId id, const char* as) {
  if (id.index() >= graph.size() || graph.node(id).removed) {
    throw UserError(fmt::format("verify: {} %{} is not in the graph", as, id.value));
  }
}

}  // namespace

std::vector<Expr> variables(const Graph& graph) {
  VariableCollector collector;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(NodeId{i});
    if (!node.removed) collector.add(node);
  }
  return collector.take();
}

void verify(const Graph& graph) {
  topological_order(graph);  // throws on a cycle
  for (uint32_t i = 0; i < graph.size(); ++i) {
    if (!graph.node(NodeId{i}).removed) verify_node(graph, NodeId{i});
  }
  for (const Output& output : graph.outputs()) verify_use(graph, output.node, "output");
  for (const Probe& probe : graph.probes()) verify_use(graph, probe.node, "probe");
  for (const StateUpdate& update : graph.updates()) {
    verify_use(graph, update.state, "state");
    verify_use(graph, update.value, "state value");
  }
  const std::vector<Expr> all = variables(graph);
  for (size_t i = 1; i < all.size(); ++i) {
    if (all[i].name() == all[i - 1].name()) {
      throw UserError(
          fmt::format("verify: variable '{}' has two pairs of bounds, {} … {} and {} … "
                      "{}; make it once with Expr::var and use that",
                      all[i].name(), all[i - 1].lower_bound(), all[i - 1].upper_bound(),
                      all[i].lower_bound(), all[i].upper_bound()));
    }
  }
}

}  // namespace luminal
