#include "luminal/graph/interpret/index_eval.h"

#include <algorithm>

#include "luminal/base/check.h"

namespace luminal::interpret {
namespace {

// Arithmetic wraps around, as in kernels.
int64_t negated(int64_t a) { return static_cast<int64_t>(0 - static_cast<uint64_t>(a)); }

int64_t plus_product(int64_t sum, int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(sum) +
                              static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return negated(a);
  int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)));
}

int64_t floor_mod(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  int64_t rest = a % b;
  return rest + ((rest != 0 && (rest < 0) != (b < 0)) ? b : 0);
}

int64_t combine(ExprKind kind, int64_t a, int64_t b) {
  switch (kind) {
    case ExprKind::Product:
      return plus_product(0, a, b);
    case ExprKind::FloorDiv:
      return floor_div(a, b);
    case ExprKind::CeilDiv:
      return negated(floor_div(negated(a), b));
    case ExprKind::Mod:
      return floor_mod(a, b);
    case ExprKind::Min:
      return std::min(a, b);
    case ExprKind::Max:
      return std::max(a, b);
    case ExprKind::Less:
      return a < b;
    case ExprKind::GreaterEqual:
      return a >= b;
    case ExprKind::And:
      return a != 0 && b != 0;
    case ExprKind::Or:
      return a != 0 || b != 0;
    case ExprKind::Const:
    case ExprKind::Var:
    case ExprKind::Index:
    case ExprKind::Sum:
      break;
  }
  LUMINAL_CHECK(false, "not an operation on two operands");
  __builtin_unreachable();
}

void evaluate_sum(Expr expr, const Indices& indices, int64_t* out, Scratch& scratch) {
  std::fill_n(out, indices.count, expr.constant_term());
  for (size_t i = 0; i < expr.operands().size(); ++i) {
    const Expr operand = expr.operands()[i];
    const int64_t coefficient = expr.coefficients()[i];
    const int64_t* values = nullptr;
    Scratch::Mark mark(scratch);
    if (operand.kind() == ExprKind::Index) {
      values = indices.axes[static_cast<size_t>(operand.axis())];
    } else {
      int64_t* computed = scratch.integers(indices.count);
      evaluate_index(operand, indices, computed, scratch);
      values = computed;
    }
    for (int64_t j = 0; j < indices.count; ++j)
      out[j] = plus_product(out[j], coefficient, values[j]);
  }
}

// Folds the operands from the left. And and Or give 0 or 1, even of a single operand.
void evaluate_fold(Expr expr, const Indices& indices, int64_t* out, Scratch& scratch) {
  evaluate_index(expr.operands()[0], indices, out, scratch);
  if (expr.kind() == ExprKind::And || expr.kind() == ExprKind::Or) {
    for (int64_t j = 0; j < indices.count; ++j) out[j] = out[j] != 0;
  }
  for (size_t i = 1; i < expr.operands().size(); ++i) {
    Scratch::Mark mark(scratch);
    const Expr operand = expr.operands()[i];
    const ExprKind kind = expr.kind();
    if (std::optional<int64_t> value = operand.to_int()) {
      for (int64_t j = 0; j < indices.count; ++j) out[j] = combine(kind, out[j], *value);
    } else {
      int64_t* right = scratch.integers(indices.count);
      evaluate_index(operand, indices, right, scratch);
      for (int64_t j = 0; j < indices.count; ++j) out[j] = combine(kind, out[j], right[j]);
    }
  }
}

}  // namespace

void evaluate_index(Expr expr, const Indices& indices, int64_t* out, Scratch& scratch) {
  switch (expr.kind()) {
    case ExprKind::Const:
      std::fill_n(out, indices.count, expr.constant_term());
      return;
    case ExprKind::Var:
      LUMINAL_CHECK(false, "a variable was left unbound: " + expr.text());
      return;
    case ExprKind::Index:
      LUMINAL_CHECK(static_cast<size_t>(expr.axis()) < indices.axes.size(),
                    "an index names an axis that isn't there: " + expr.text());
      std::copy_n(indices.axes[static_cast<size_t>(expr.axis())], indices.count, out);
      return;
    case ExprKind::Sum:
      evaluate_sum(expr, indices, out, scratch);
      return;
    case ExprKind::Product:
    case ExprKind::FloorDiv:
    case ExprKind::CeilDiv:
    case ExprKind::Mod:
    case ExprKind::Min:
    case ExprKind::Max:
    case ExprKind::Less:
    case ExprKind::GreaterEqual:
    case ExprKind::And:
    case ExprKind::Or:
      evaluate_fold(expr, indices, out, scratch);
      return;
  }
}

}  // namespace luminal::interpret
