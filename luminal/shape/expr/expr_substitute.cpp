// Substitution in expressions, and queries for the leaves that occur in one.
#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/shape/expr/expr_interner.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace luminal {
namespace {

using shape::Node;
using shape::node;

// The same operation on other operands, simplified again.
Expr rebuild(Expr e, std::span<const Expr> operands) {
  const Node& n = node(e);
  const auto fold = [&](auto combine) {
    Expr result = operands[0];
    for (size_t i = 1; i < operands.size(); ++i) result = combine(result, operands[i]);
    return result;
  };
  switch (n.kind) {
    case ExprKind::Const:
    case ExprKind::Var:
      return e;
    case ExprKind::Index:
      return Expr::index(n.axis, operands[0]);
    case ExprKind::Sum: {
      Expr result = operands[0] * n.coefficients[0];
      for (size_t i = 1; i < operands.size(); ++i) {
        result = result + operands[i] * n.coefficients[i];
      }
      return result + n.constant;
    }
    case ExprKind::Product:
      return fold([](Expr a, Expr b) { return a * b; });
    case ExprKind::FloorDiv:
      return operands[0] / operands[1];
    case ExprKind::CeilDiv:
      return ceil_div(operands[0], operands[1]);
    case ExprKind::Mod:
      return operands[0] % operands[1];
    case ExprKind::Min:
      return fold([](Expr a, Expr b) { return min(a, b); });
    case ExprKind::Max:
      return fold([](Expr a, Expr b) { return max(a, b); });
    case ExprKind::Less:
      return operands[0] < operands[1];
    case ExprKind::GreaterEqual:
      return operands[0] >= operands[1];
    case ExprKind::And: {
      Expr result = 1;
      for (Expr operand : operands) result = result && operand;
      return result;
    }
    case ExprKind::Or:
      return fold([](Expr a, Expr b) { return a || b; });
  }
  return e;
}

// Rewrites bottom-up. `replace` gives the new expression for a node or nothing; `may_contain` says
// whether looking inside is worth it.
template <typename Replace, typename MayContain>
class Rewriter {
 public:
  Rewriter(Replace replace, MayContain may_contain)
      : replace_(replace), may_contain_(may_contain) {}

  Expr rewrite(Expr e) {
    const Node& n = node(e);
    if (!may_contain_(n)) return e;
    if (const std::optional<Expr> replaced = replace_(e)) return *replaced;
    if (n.n_operands == 0) return e;
    const auto known = memo_.find(e.id());
    if (known != memo_.end()) return known->second;
    std::vector<Expr> operands;
    operands.reserve(n.n_operands);
    for (Expr operand : n.operand_span()) operands.push_back(rewrite(operand));
    const Expr result = std::ranges::equal(operands, n.operand_span()) ? e : rebuild(e, operands);
    memo_.emplace(e.id(), result);
    return result;
  }

 private:
  Replace replace_;
  MayContain may_contain_;
  std::unordered_map<uint32_t, Expr> memo_;
};

// Calls visit(e) once for every distinct node in e.
template <typename Visit>
void visit_nodes(Expr e, std::unordered_set<uint32_t>& seen, const Visit& visit) {
  if (!seen.insert(e.id()).second) return;
  visit(e);
  for (Expr operand : e.operands()) visit_nodes(operand, seen, visit);
}

}  // namespace

Expr Expr::bind(const Bindings& bindings) const {
  const auto replace = [&](Expr e) -> std::optional<Expr> {
    if (e.kind() != ExprKind::Var) return std::nullopt;
    const auto value = bindings.find(e.name());
    if (!value) return std::nullopt;
    if (*value < e.lower_bound() || *value > e.upper_bound()) {
      throw UserError(fmt::format("{} = {} is outside its bounds {} … {}; give a value within them",
                                  e.name(), *value, e.lower_bound(), e.upper_bound()));
    }
    return Expr(*value);
  };
  return Rewriter(replace, [](const Node& n) { return n.has_variables; }).rewrite(*this);
}

Expr Expr::substitute_indices(std::span<const Expr> replacement) const {
  const auto replace = [&](Expr e) -> std::optional<Expr> {
    if (e.kind() != ExprKind::Index) return std::nullopt;
    LUMINAL_CHECK(static_cast<size_t>(e.axis()) < replacement.size(),
                  fmt::format("{} has no replacement", e.text()));
    return replacement[static_cast<size_t>(e.axis())];
  };
  return Rewriter(replace, [](const Node& n) { return n.index_mask != 0; }).rewrite(*this);
}

Expr Expr::substitute(Expr from, Expr to) const {
  const auto replace = [&](Expr e) -> std::optional<Expr> {
    if (e != from) return std::nullopt;
    return to;
  };
  const uint32_t size = node(from).tree_size;
  return Rewriter(replace, [&](const Node& n) { return n.tree_size >= size; }).rewrite(*this);
}

std::vector<Expr> Expr::variables() const {
  std::vector<Expr> found;
  std::unordered_set<uint32_t> seen;
  if (!node(*this).has_variables) return found;
  visit_nodes(*this, seen, [&](Expr e) {
    if (e.kind() == ExprKind::Var) found.push_back(e);
  });
  std::ranges::sort(found, [](Expr a, Expr b) { return compare(a, b) < 0; });
  return found;
}

bool Expr::uses_indices() const { return node(*this).index_mask != 0; }

bool Expr::uses_index(int axis) const {
  const uint64_t mask = node(*this).index_mask;
  if (axis < 0 || (mask & shape::index_bit(axis)) == 0) return false;
  if (axis < shape::kIndexMaskBits - 1) return true;
  bool found = false;
  std::unordered_set<uint32_t> seen;
  visit_nodes(*this, seen, [&](Expr e) { found |= e.axis() == axis; });
  return found;
}

}  // namespace luminal
