// Simplifies floor division and mod: splits off the divisible part, and folds what bounds decide.
#include "luminal/shape/expr/expr_interner.h"
#include "luminal/shape/expr/expr_linear.h"
#include "luminal/shape/expr/wide.h"

#include <algorithm>
#include <numeric>

namespace luminal::shape {
namespace {

int64_t floor_divide_by_positive(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

int64_t floor_mod_by_positive(int64_t a, int64_t b) { return a % b + (a % b < 0 ? b : 0); }

// x as divisor · quotient + remainder.
struct Division {
  Linear quotient, remainder;
};

// Divides the coefficients truncating towards zero; the constant's remainder lies in [0, c).
Division split_by_constant(const Linear& x, int64_t c) {
  Division d;
  for (const Term& t : x.terms) {
    if (t.coefficient / c != 0) d.quotient.terms.push_back({t.atom, t.coefficient / c});
    if (t.coefficient % c != 0) d.remainder.terms.push_back({t.atom, t.coefficient % c});
  }
  d.quotient.constant = floor_divide_by_positive(x.constant, c);
  d.remainder.constant = floor_mod_by_positive(x.constant, c);
  return d;
}

// x = g · high + low with 0 ≤ low < g: dividing by a multiple of g needs only `high`.
struct Digits {
  Expr high, low;
  int64_t g;
};

// The largest such g that divides c.
std::optional<Digits> split_digits(const Linear& x, int64_t c) {
  std::vector<int64_t> candidates;
  int64_t common = c;
  for (const Term& t : x.terms) {
    common = std::gcd(common, t.coefficient);
    candidates.push_back(std::gcd(c, t.coefficient));
  }
  candidates.push_back(common);
  std::ranges::sort(candidates, std::greater());
  for (int64_t g : candidates) {
    if (g <= 1 || g == c) continue;
    Linear high{floor_divide_by_positive(x.constant, g), {}};
    Linear low{floor_mod_by_positive(x.constant, g), {}};
    for (const Term& t : x.terms) {
      const bool divides = t.coefficient % g == 0;
      (divides ? high : low).terms.push_back({t.atom, divides ? t.coefficient / g : t.coefficient});
    }
    const Expr rest = from_linear(std::move(low));
    if (rest.lower_bound() < 0 || rest.upper_bound() >= g) continue;
    return Digits{from_linear(std::move(high)), rest, g};
  }
  return std::nullopt;
}

// ⌊x / c⌋ if the bounds of x leave only one value.
std::optional<int64_t> decided_quotient(Expr x, int64_t c) {
  const int64_t lower = x.lower_bound(), upper = x.upper_bound();
  if (lower == INT64_MIN || upper == INT64_MAX) return std::nullopt;
  const int64_t q = floor_divide_by_positive(lower, c);
  if (q != floor_divide_by_positive(upper, c)) return std::nullopt;
  return q;
}

Expr sum_or(Linear quotient, const Expr& rest) {
  return make_sum(from_linear(std::move(quotient)), rest);
}

// ⌊x / c⌋ where x is a single div or mod that the bounds don't decide: (y div b + k) div c,
// (y mod bc) div c.
std::optional<Expr> div_of_div_or_mod(const Linear& x, int64_t c) {
  if (x.terms.size() != 1 || x.terms[0].coefficient != 1) return std::nullopt;
  const Expr atom = x.terms[0].atom;
  if (atom.kind() != ExprKind::FloorDiv && atom.kind() != ExprKind::Mod) return std::nullopt;
  const auto b = atom.operands()[1].to_int();
  if (!b || *b <= 0) return std::nullopt;
  if (atom.kind() == ExprKind::FloorDiv) {
    int64_t divisor, shift;
    if (__builtin_mul_overflow(*b, c, &divisor)) return std::nullopt;
    if (__builtin_mul_overflow(*b, x.constant, &shift)) return std::nullopt;
    return make_floor_div(make_sum(atom.operands()[0], shift), divisor);
  }
  if (x.constant != 0 || *b % c != 0) return std::nullopt;
  return make_mod(make_floor_div(atom.operands()[0], c), *b / c);
}

Expr floor_div_by_constant(Expr x, int64_t c) {
  Division d = split_by_constant(to_linear(x), c);
  const Expr r = from_linear(d.remainder);
  if (const auto q = decided_quotient(r, c)) return sum_or(std::move(d.quotient), *q);
  d.remainder = to_linear(r);
  if (const auto digits = split_digits(d.remainder, c)) {
    return sum_or(std::move(d.quotient), make_floor_div(digits->high, c / digits->g));
  }
  // from_linear may have recombined terms into ones that divide.
  const Division again = split_by_constant(d.remainder, c);
  if (again.quotient.size() != 0) return sum_or(std::move(d.quotient), make_floor_div(r, c));
  if (const auto simpler = div_of_div_or_mod(d.remainder, c)) {
    return sum_or(std::move(d.quotient), *simpler);
  }
  return sum_or(std::move(d.quotient), intern_binary(ExprKind::FloorDiv, r, c));
}

// k·(y mod m) = k·y modulo any divisor of k·m: drops such mods. False if there were none.
bool drop_inner_mods(Linear& x, Expr modulus) {
  const auto c = modulus.to_int();
  for (const Term& t : x.terms) {
    if (t.atom.kind() != ExprKind::Mod) continue;
    const Expr y = t.atom.operands()[0], m = t.atom.operands()[1];
    const auto inner = m.to_int();
    bool divides = false;
    if (c && inner) {
      divides = *inner > 0 && static_cast<Wide>(t.coefficient) * *inner % *c == 0;
    } else if (!c) {
      divides = make_mod(m, modulus).is(0);
    }
    if (!divides) continue;
    Linear without{x.constant, {}};
    for (const Term& other : x.terms) {
      if (other.atom != t.atom) without.terms.push_back(other);
    }
    if (!add_scaled(without, to_linear(y), t.coefficient)) return false;
    x = std::move(without);
    return true;
  }
  return false;
}

Expr mod_by_constant(Expr x, int64_t c) {
  const Expr r = from_linear(split_by_constant(to_linear(x), c).remainder);
  if (const auto q = decided_quotient(r, c)) {
    int64_t shift;
    if (!__builtin_mul_overflow(*q, c, &shift)) return make_difference(r, shift);
  }
  Linear l = to_linear(r);
  if (drop_inner_mods(l, c)) return make_mod(from_linear(std::move(l)), c);
  if (const auto digits = split_digits(l, c)) {
    const Expr high = make_mod(digits->high, c / digits->g);
    return make_sum(make_product(high, digits->g), digits->low);
  }
  if (split_by_constant(l, c).quotient.size() != 0) return make_mod(r, c);
  return intern_binary(ExprKind::Mod, r, c);
}

// Polynomial division by a divisor with variables: subtracts multiples of it while that leaves
// fewer summands.
Division split_by_symbol(const Linear& x, Expr divisor) {
  Division d{{}, x};
  const Term lead = to_linear(divisor).terms[0];
  for (bool changed = true; changed;) {
    changed = false;
    for (const Term& t : d.remainder.terms) {
      if (t.coefficient == INT64_MIN || t.coefficient % lead.coefficient != 0) continue;
      const auto factors = factors_of(t.atom);
      std::vector<Expr> rest(factors.begin(), factors.end());
      if (!remove_factors(rest, factors_of(lead.atom))) continue;
      const Expr step = make_product(product_of(std::move(rest)), t.coefficient / lead.coefficient);
      Linear quotient = d.quotient, remainder = d.remainder;
      if (!add_scaled(quotient, to_linear(step), 1)) continue;
      if (!subtract_product(remainder, step, divisor)) continue;
      if (remainder.size() >= d.remainder.size()) continue;
      d = {std::move(quotient), std::move(remainder)};
      changed = true;
      break;
    }
  }
  return d;
}

// A common factor of all summands of both, as k · factors.
struct CommonFactor {
  int64_t coefficient = 0;
  std::vector<Expr> factors;
  bool trivial() const { return coefficient == 1 && factors.empty(); }
};

void narrow(CommonFactor& common, const Linear& x, bool first) {
  if (x.constant != 0) {
    common.coefficient = std::gcd(common.coefficient, x.constant);
    common.factors.clear();
    first = false;
  }
  for (const Term& t : x.terms) {
    common.coefficient = std::gcd(common.coefficient, t.coefficient);
    const auto span = factors_of(t.atom);
    std::vector<Expr> left(span.begin(), span.end());
    if (first) {
      common.factors = std::move(left);
      first = false;
      continue;
    }
    std::erase_if(common.factors, [&](Expr f) { return !remove_factors(left, {&f, 1}); });
  }
}

// x / common, exactly: `common` divides every summand.
Expr divide_exactly(const Linear& x, const CommonFactor& common) {
  Expr result = common.factors.empty() ? x.constant / common.coefficient : 0;
  for (const Term& t : x.terms) {
    const auto span = factors_of(t.atom);
    std::vector<Expr> rest(span.begin(), span.end());
    if (!remove_factors(rest, common.factors)) return 0;
    result = make_sum(
        result, make_product(product_of(std::move(rest)), t.coefficient / common.coefficient));
  }
  return result;
}

bool holds_minimum(const Linear& x) {
  return x.constant == INT64_MIN ||
         std::ranges::any_of(x.terms, [](const Term& t) { return t.coefficient == INT64_MIN; });
}

CommonFactor common_factor(const Linear& x, const Linear& divisor) {
  if (holds_minimum(x) || holds_minimum(divisor)) return {1, {}};
  CommonFactor common;
  narrow(common, divisor, true);
  narrow(common, x, false);
  return common;
}

// x = g · high + low with 0 ≤ low < g, where g is a factor of the divisor and the rest of the
// divisor is positive.
struct SymbolDigits {
  Expr high, low, g, rest_of_divisor;
};

std::optional<SymbolDigits> split_symbol_digits(const Linear& x, Expr divisor) {
  const Linear d = to_linear(divisor);
  if (d.size() != 1 || x.size() < 2 || holds_minimum(x) || holds_minimum(d)) return std::nullopt;
  const auto factors = factors_of(d.terms[0].atom);
  for (size_t k = 0; k <= factors.size(); ++k) {  // the last try is the constant factor
    CommonFactor g{1, {}};
    if (k < factors.size()) {
      g.factors.push_back(factors[k]);
    } else {
      g.coefficient = std::abs(d.terms[0].coefficient);
    }
    const Expr rest_of_divisor = divide_exactly(d, g);
    if (g.trivial() || rest_of_divisor.lower_bound() < 0) continue;
    Linear multiple, low;
    (g.factors.empty() && x.constant % g.coefficient == 0 ? multiple : low).constant = x.constant;
    for (const Term& t : x.terms) {
      const auto span = factors_of(t.atom);
      std::vector<Expr> left(span.begin(), span.end());
      const bool divides = t.coefficient % g.coefficient == 0 && remove_factors(left, g.factors);
      (divides ? multiple : low).terms.push_back(t);
    }
    const Expr g_expr = make_product(product_of(g.factors), g.coefficient);
    const Expr low_expr = from_linear(low);
    if (multiple.size() == 0 || low.size() == 0 || !known_in_range(low_expr, g_expr)) continue;
    return SymbolDigits{divide_exactly(multiple, g), low_expr, g_expr, rest_of_divisor};
  }
  return std::nullopt;
}

Expr floor_div_by_symbol(Expr x, Expr divisor) {
  Division d = split_by_symbol(to_linear(x), divisor);
  const Expr r = from_linear(d.remainder);
  if (r.is(0)) return from_linear(std::move(d.quotient));
  if (known_in_range(r, divisor)) return from_linear(std::move(d.quotient));
  const bool non_negative = divisor.lower_bound() >= 0;
  if (non_negative && r.upper_bound() < 0 && known_in_range(make_sum(r, divisor), divisor)) {
    return sum_or(std::move(d.quotient), -1);
  }
  const Linear l = to_linear(r);
  const CommonFactor common = common_factor(l, to_linear(divisor));
  if (!common.trivial()) {
    return sum_or(
        std::move(d.quotient),
        make_floor_div(divide_exactly(l, common), divide_exactly(to_linear(divisor), common)));
  }
  if (const auto digits = split_symbol_digits(l, divisor)) {
    return sum_or(std::move(d.quotient), make_floor_div(digits->high, digits->rest_of_divisor));
  }
  if (r.kind() == ExprKind::FloorDiv && non_negative && r.operands()[1].lower_bound() >= 0) {
    const Expr both = make_product(r.operands()[1], divisor);
    if (both.upper_bound() < INT64_MAX && !node(both).opaque) {
      return sum_or(std::move(d.quotient), make_floor_div(r.operands()[0], both));
    }
  }
  return sum_or(std::move(d.quotient), intern_binary(ExprKind::FloorDiv, r, divisor));
}

Expr mod_by_symbol(Expr x, Expr divisor) {
  const Expr r = from_linear(split_by_symbol(to_linear(x), divisor).remainder);
  if (r.is(0) || known_in_range(r, divisor)) return r;
  if (divisor.lower_bound() >= 0 && r.upper_bound() < 0) {
    const Expr shifted = make_sum(r, divisor);
    if (known_in_range(shifted, divisor)) return shifted;
  }
  Linear l = to_linear(r);
  if (drop_inner_mods(l, divisor)) return make_mod(from_linear(std::move(l)), divisor);
  const CommonFactor common = common_factor(l, to_linear(divisor));
  if (!common.trivial()) {
    const Expr inner =
        make_mod(divide_exactly(l, common), divide_exactly(to_linear(divisor), common));
    return make_product(make_product(product_of(common.factors), common.coefficient), inner);
  }
  if (const auto digits = split_symbol_digits(l, divisor)) {
    const Expr high = make_mod(digits->high, digits->rest_of_divisor);
    return make_sum(make_product(high, digits->g), digits->low);
  }
  return intern_binary(ExprKind::Mod, r, divisor);
}

// −x, if no coefficient overflows.
std::optional<Expr> negated(Expr x) {
  Linear l;
  if (!add_scaled(l, to_linear(x), -1)) return std::nullopt;
  return from_linear(std::move(l));
}

}  // namespace

Expr make_floor_div(Expr a, Expr b) {
  const auto c = b.to_int();
  if (c && *c == 0) return intern_binary(ExprKind::FloorDiv, a, b);
  if (a.is(0)) return 0;
  if (a == b) return 1;
  if (!c) return floor_div_by_symbol(a, b);
  if (*c == 1) return a;
  if (*c == -1) return make_product(a, -1);
  if (*c == INT64_MIN) return intern_binary(ExprKind::FloorDiv, a, b);
  if (*c > 1) return floor_div_by_constant(a, *c);
  const auto minus_a = negated(a);  // ⌊a / −c⌋ = ⌊−a / c⌋
  return minus_a ? floor_div_by_constant(*minus_a, -*c) : intern_binary(ExprKind::FloorDiv, a, b);
}

Expr make_mod(Expr a, Expr b) {
  const auto c = b.to_int();
  if (c && *c == 0) return intern_binary(ExprKind::Mod, a, b);
  if (a.is(0) || a == b) return 0;
  if (!c) return mod_by_symbol(a, b);
  if (*c == 1 || *c == -1) return 0;
  if (*c == INT64_MIN) return intern_binary(ExprKind::Mod, a, b);
  if (*c > 1) return mod_by_constant(a, *c);
  const auto minus_a = negated(a);  // a mod −c = −(−a mod c)
  return minus_a ? make_product(mod_by_constant(*minus_a, -*c), -1)
                 : intern_binary(ExprKind::Mod, a, b);
}

}  // namespace luminal::shape

namespace luminal {

Expr ceil_div(Expr a, Expr b) {
  const auto c = b.to_int();
  if (c == 0 || c == INT64_MIN) return shape::intern_binary(ExprKind::CeilDiv, a, b);
  if (a.is(0)) return 0;
  if (a == b) return 1;
  if (c == 1) return a;
  // Where b > 0, ⌈a / b⌉ = ⌊(a − 1) / b⌋ + 1; where b < 0, ⌈a / b⌉ = ⌈−a / −b⌉.
  shape::Linear shifted;
  if (b.lower_bound() >= 0) {
    shifted.constant = -1;
    if (add_scaled(shifted, shape::to_linear(a), 1)) return from_linear(shifted) / b + 1;
  } else if (c && add_scaled(shifted, shape::to_linear(a), -1)) {
    return ceil_div(from_linear(shifted), -*c);
  }
  return shape::intern_binary(ExprKind::CeilDiv, a, b);
}

}  // namespace luminal
