// Interval arithmetic over the bounds of a node's operands.
#include "luminal/shape/expr/expr_bounds.h"

#include "luminal/shape/expr/wide.h"

#include <algorithm>

namespace luminal::shape {
namespace {

int64_t saturate(Wide value) {
  if (value <= INT64_MIN) return INT64_MIN;
  if (value >= INT64_MAX) return INT64_MAX;
  return static_cast<int64_t>(value);
}

bool unbounded_below(Bounds b) { return b.lower == INT64_MIN; }
bool unbounded_above(Bounds b) { return b.upper == INT64_MAX; }

Bounds bounds(Expr e) {
  const Node& n = node(e);
  return {n.lower, n.upper};
}

Bounds hull(Bounds a, Bounds b) { return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)}; }

// One end of an interval. An infinite end has the value INT64_MIN or INT64_MAX; `infinite` makes
// its products and quotients exact limits instead of arithmetic on that value.
struct End {
  int64_t value;
  bool infinite;
};
End low_end(Bounds b) { return {b.lower, unbounded_below(b)}; }
End high_end(Bounds b) { return {b.upper, unbounded_above(b)}; }

int64_t multiply(End a, End b) {
  if (a.value == 0 || b.value == 0) return 0;
  if (a.infinite || b.infinite) return (a.value < 0) == (b.value < 0) ? INT64_MAX : INT64_MIN;
  return saturate(static_cast<Wide>(a.value) * b.value);
}

Bounds multiply(Bounds a, Bounds b) {
  const int64_t corners[] = {multiply(low_end(a), low_end(b)), multiply(low_end(a), high_end(b)),
                             multiply(high_end(a), low_end(b)), multiply(high_end(a), high_end(b))};
  return {std::ranges::min(corners), std::ranges::max(corners)};
}

int64_t divide(End a, End b, bool ceil) {
  if (a.infinite && b.infinite) return 0;  // any inner value will do: other corners give the bounds
  if (a.infinite) return (a.value < 0) == (b.value < 0) ? INT64_MAX : INT64_MIN;
  if (b.infinite) {  // the quotient tends to 0; rounding gives −1, 0 or 1
    const bool negative = (a.value < 0) != (b.value < 0);
    return a.value == 0 ? 0 : ceil ? !negative : -static_cast<int64_t>(negative);
  }
  if (ceil) return saturate(-floor_divide(-static_cast<Wide>(a.value), b.value));
  return saturate(floor_divide(a.value, b.value));
}

// `b` must not contain 0.
Bounds divide_by_nonzero(Bounds a, Bounds b, bool ceil) {
  const int64_t corners[] = {
      divide(low_end(a), low_end(b), ceil), divide(low_end(a), high_end(b), ceil),
      divide(high_end(a), low_end(b), ceil), divide(high_end(a), high_end(b), ceil)};
  return {std::ranges::min(corners), std::ranges::max(corners)};
}

// Splits a divisor's range at zero, where backends compute 0.
template <typename F>
Bounds over_parts(Bounds b, F f) {
  const bool negative = b.lower < 0, positive = b.upper > 0;
  if (!negative && !positive) return {};
  const Bounds below{b.lower, std::min<int64_t>(b.upper, -1)};
  const Bounds above{std::max<int64_t>(b.lower, 1), b.upper};
  const Bounds all = !positive ? f(below) : !negative ? f(above) : hull(f(below), f(above));
  return b.lower <= 0 && b.upper >= 0 ? hull(all, {0, 0}) : all;
}

Bounds divide(Bounds a, Bounds b, bool ceil) {
  return over_parts(b, [&](Bounds part) { return divide_by_nonzero(a, part, ceil); });
}

Bounds modulo(Bounds a, Bounds b) {
  return over_parts(b, [&](Bounds part) -> Bounds {
    if (part.lower > 0) {
      const int64_t top = unbounded_above(part) ? INT64_MAX : part.upper - 1;
      return {0, a.lower >= 0 ? std::min(a.upper, top) : top};
    }
    const int64_t bottom = unbounded_below(part) ? INT64_MIN : part.lower + 1;
    return {a.upper <= 0 ? std::max(a.lower, bottom) : bottom, 0};
  });
}

// Kinds whose bounds follow from those of their operands alone.
template <typename F>
Bounds combine(ExprKind kind, size_t n_operands, F operand) {
  switch (kind) {
    case ExprKind::Product: {
      Bounds b{1, 1};
      for (size_t i = 0; i < n_operands; ++i) b = multiply(b, operand(i));
      return b;
    }
    case ExprKind::FloorDiv:
      return divide(operand(0), operand(1), false);
    case ExprKind::CeilDiv:
      return divide(operand(0), operand(1), true);
    case ExprKind::Mod:
      return modulo(operand(0), operand(1));
    case ExprKind::Min:
    case ExprKind::Max: {
      Bounds b = operand(0);
      for (size_t i = 1; i < n_operands; ++i) {
        const Bounds o = operand(i);
        b = kind == ExprKind::Min ? Bounds{std::min(b.lower, o.lower), std::min(b.upper, o.upper)}
                                  : Bounds{std::max(b.lower, o.lower), std::max(b.upper, o.upper)};
      }
      return b;
    }
    case ExprKind::Less:
    case ExprKind::GreaterEqual:
    case ExprKind::And:
    case ExprKind::Or:
      return {0, 1};
    case ExprKind::Const:
    case ExprKind::Var:
    case ExprKind::Index:
    case ExprKind::Sum:
      break;
  }
  return {};
}

// Bounds of constant + Σ coefficient · operand with the operands treated as independent;
// `operand(i)` gives the bounds of operand i.
template <typename F>
Bounds separate_sum_bounds(int64_t constant, std::span<const int64_t> coefficients, F operand) {
  Wide lower = constant, upper = constant;
  bool below = true, above = true;  // bounded
  for (size_t i = 0; i < coefficients.size(); ++i) {
    const int64_t k = coefficients[i];
    const Bounds b = multiply(operand(i), {k, k});
    below &= !unbounded_below(b);
    above &= !unbounded_above(b);
    lower += b.lower;
    upper += b.upper;
  }
  return {below ? saturate(lower) : INT64_MIN, above ? saturate(upper) : INT64_MAX};
}

Bounds sum_bounds(const NodeKey& key) {
  Bounds b = separate_sum_bounds(key.constant, key.coefficients,
                                 [&](size_t i) { return bounds(key.operands[i]); });
  const bool has_product = std::ranges::any_of(
      key.operands, [](Expr e) { return node(e).kind == ExprKind::Product && !node(e).opaque; });
  if (!has_product || key.opaque) return b;
  const bool mixed_signs = std::ranges::any_of(key.coefficients, [](int64_t k) { return k < 0; });
  if (mixed_signs || b.lower < 0) {
    const auto joint = joint_lower_bound(key.constant, key.operands, key.coefficients);
    if (joint) b.lower = std::max(b.lower, *joint);
  }
  if (mixed_signs && key.constant != INT64_MIN) {
    std::vector<int64_t> negated;
    for (int64_t k : key.coefficients) {
      if (k == INT64_MIN) return b;
      negated.push_back(-k);
    }
    const auto joint = joint_lower_bound(-key.constant, key.operands, negated);
    if (joint && *joint != INT64_MIN) b.upper = std::min(b.upper, -*joint);
  }
  return b;
}

// A polynomial with every atom a substituted by a' + lower(a), so that a' ≥ 0; stored as monomials
// of the a'.
class ShiftedPolynomial {
 public:
  // Adds coefficient · Π factors; false if a factor has no lower bound or the result is too large.
  bool add(int64_t coefficient, std::span<const Expr> factors) {
    if (factors.size() > kMaxDegree) return false;
    for (Expr f : factors) {
      if (node(f).lower == INT64_MIN) return false;
    }
    for (uint32_t kept = 0; kept < (uint32_t{1} << factors.size()); ++kept) {
      Wide c = coefficient;
      std::vector<uint32_t> monomial;
      for (size_t i = 0; i < factors.size(); ++i) {
        if (kept >> i & 1) {
          monomial.push_back(factors[i].id());
        } else if (__builtin_mul_overflow(c, static_cast<Wide>(node(factors[i]).lower), &c)) {
          return false;
        }
      }
      if (c != 0 && !add_monomial(c, std::move(monomial))) return false;
    }
    return true;
  }

  // The constant, if every other coefficient is non-negative.
  std::optional<Wide> lower_bound() const {
    Wide constant = 0;
    for (const auto& [monomial, c] : terms_) {
      if (monomial.empty()) {
        constant = c;
      } else if (c < 0) {
        return std::nullopt;
      }
    }
    return constant;
  }

 private:
  static constexpr size_t kMaxDegree = 5;
  static constexpr size_t kMaxTerms = 128;

  bool add_monomial(Wide c, std::vector<uint32_t> monomial) {
    std::ranges::sort(monomial);
    for (auto& [other, sum] : terms_) {
      if (other == monomial) return !__builtin_add_overflow(sum, c, &sum);
    }
    terms_.emplace_back(std::move(monomial), c);
    return terms_.size() <= kMaxTerms;
  }

  std::vector<std::pair<std::vector<uint32_t>, Wide>> terms_;
};

}  // namespace

std::optional<int64_t> joint_lower_bound(int64_t constant, std::span<const Expr> operands,
                                         std::span<const int64_t> coefficients) {
  ShiftedPolynomial polynomial;
  if (!polynomial.add(constant, {})) return std::nullopt;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Node& n = node(operands[i]);
    const bool product = n.kind == ExprKind::Product && !n.opaque;
    const auto factors = product ? n.operand_span() : operands.subspan(i, 1);
    if (!polynomial.add(coefficients[i], factors)) return std::nullopt;
  }
  const auto bound = polynomial.lower_bound();
  if (!bound) return std::nullopt;
  return saturate(*bound);
}

Bounds bounds_of(const NodeKey& key) {
  switch (key.kind) {
    case ExprKind::Const:
      return {key.constant, key.constant};
    case ExprKind::Var:
      return {key.lower, key.upper};
    case ExprKind::Index: {
      const int64_t extent = bounds(key.operands[0]).upper;
      return {0, extent == INT64_MAX ? INT64_MAX : std::max<int64_t>(extent - 1, 0)};
    }
    case ExprKind::Sum:
      return sum_bounds(key);
    default:
      return combine(key.kind, key.operands.size(),
                     [&](size_t i) { return bounds(key.operands[i]); });
  }
}

Bounds bounds_over(Expr e, const std::function<Bounds(Expr)>& operand) {
  const Node& n = node(e);
  const auto at = [&](size_t i) { return operand(n.operands[i]); };
  if (n.kind == ExprKind::Sum) return separate_sum_bounds(n.constant, n.coefficient_span(), at);
  return combine(n.kind, n.n_operands, at);
}

}  // namespace luminal::shape
