// Sums and products: the polynomial part of the simplifier.
#include "luminal/shape/expr/expr_linear.h"

#include "luminal/shape/expr/expr_interner.h"

#include <algorithm>
#include <cmath>

namespace luminal::shape {
namespace {

constexpr size_t kMaxExpandedTerms = 32;
// Limit on the tree size of an expanded product. Without it, multiplying a chain of sums
// (a + b)·(a + b)·… copies the opaque partial product into every summand: exponential growth.
constexpr uint64_t kMaxExpandedNodes = 2'000;

Expr opaque_pair(ExprKind kind, Expr a, Expr b) {
  if (compare(b, a) < 0) std::swap(a, b);
  if (kind != ExprKind::Sum) return intern_binary(kind, a, b, true);
  const Expr operands[] = {a, b};
  const int64_t ones[] = {1, 1};
  return intern({.kind = kind, .opaque = true, .operands = operands, .coefficients = ones});
}

// log2 of the maximum magnitude of an expression.
double magnitude_bits(Expr e) {
  const Node& n = node(e);
  const double largest =
      std::max(std::abs(static_cast<double>(n.lower)), std::abs(static_cast<double>(n.upper)));
  return std::log2(std::max(largest, 1.0));
}

// Whether Π factors stays within the 128 bits that evaluate() has for an atom. A product as written
// fits 64 bits, but one summand of its expanded form needn't: (x − y)·z where x is close to y.
bool fits_wide(std::span<const Expr> a, std::span<const Expr> b) {
  double bits = 0;
  for (Expr f : a) bits += magnitude_bits(f);
  for (Expr f : b) bits += magnitude_bits(f);
  return bits < 126.9;
}

// into += coefficient · atom, kept sorted.
bool add_term(Linear& into, Expr atom, int64_t coefficient) {
  auto at = std::lower_bound(into.terms.begin(), into.terms.end(), atom,
                             [](const Term& t, Expr e) { return compare(t.atom, e) < 0; });
  if (at == into.terms.end() || at->atom != atom) {
    into.terms.insert(at, {atom, coefficient});
    return true;
  }
  if (__builtin_add_overflow(at->coefficient, coefficient, &at->coefficient)) return false;
  if (at->coefficient == 0) into.terms.erase(at);
  return true;
}

// into += the product of two summands.
bool add_monomial_product(Linear& into, const Term& a, const Term& b, bool one_summand) {
  int64_t coefficient;
  if (__builtin_mul_overflow(a.coefficient, b.coefficient, &coefficient)) return false;
  const auto left = factors_of(a.atom), right = factors_of(b.atom);
  if (!one_summand && !fits_wide(left, right)) return false;
  std::vector<Expr> factors(left.begin(), left.end());
  factors.insert(factors.end(), right.begin(), right.end());
  const Expr product = product_of(std::move(factors));
  if (const auto value = product.to_int()) {  // folded: its bounds left one value
    int64_t scaled;
    return !__builtin_mul_overflow(*value, coefficient, &scaled) && add_constant(into, scaled);
  }
  return add_term(into, product, coefficient);
}

// into += a · b, expanded.
bool add_product(Linear& into, const Linear& a, const Linear& b) {
  const bool one_summand = a.size() == 1 && b.size() == 1;
  for (const Term& x : a.terms) {
    for (const Term& y : b.terms) {
      if (!add_monomial_product(into, x, y, one_summand)) return false;
    }
  }
  int64_t constant;
  if (__builtin_mul_overflow(a.constant, b.constant, &constant)) return false;
  if (!add_constant(into, constant)) return false;
  const Linear a_terms{0, a.terms}, b_terms{0, b.terms};
  return add_scaled(into, a_terms, b.constant) && add_scaled(into, b_terms, a.constant);
}

// The product without recombining, for use by recombination itself.
bool multiply(Linear& into, const Linear& a, const Linear& b) {
  Linear product;
  if (!add_product(product, a, b)) return false;
  into = std::move(product);
  return true;
}

// If l holds `term` and every summand of k · partner, replaces them by k · value.
bool replace_group(Linear& l, const Term& term, const Linear& partner, const Linear& value,
                   int64_t k) {
  if (partner.terms.empty()) return false;
  for (const Term& t : partner.terms) {
    int64_t wanted;
    if (t.atom == term.atom || __builtin_mul_overflow(t.coefficient, k, &wanted)) return false;
    if (l.coefficient_of(t.atom) != wanted) return false;
  }
  Linear rest{l.constant, {}};
  for (const Term& t : l.terms) {
    if (t.atom != term.atom) rest.terms.push_back(t);
  }
  if (k == INT64_MIN || !add_scaled(rest, partner, -k) || !add_scaled(rest, value, k)) return false;
  l = std::move(rest);
  return true;
}

// k·rest·(x mod c) + k·c·rest·(x div c) = k·rest·x, starting from the mod.
bool recombine_mod(Linear& l, const Term& term, Expr mod, const Linear& rest) {
  const Expr x = mod.operands()[0], c = mod.operands()[1];
  Linear partner, value;
  if (!multiply(partner, to_linear(x / c), to_linear(c)) || !multiply(partner, partner, rest)) {
    return false;
  }
  return multiply(value, rest, to_linear(x)) &&
         replace_group(l, term, partner, value, term.coefficient);
}

// The same starting from the div: (x mod c) may have simplified to a mod of something smaller.
bool recombine_div(Linear& l, const Term& term, Expr div, const Linear& rest) {
  const Expr x = div.operands()[0];
  const auto c = div.operands()[1].to_int();
  if (!c || *c <= 1 || term.coefficient % *c != 0) return false;
  Linear partner, value;
  return multiply(partner, to_linear(x % *c), rest) && multiply(value, to_linear(x), rest) &&
         replace_group(l, term, partner, value, term.coefficient / *c);
}

// k·c·(w mod b) + k·t = k·((c·w + t) mod (b·c)) for t = z mod c, where w contains z div c.
bool recombine_digits(Linear& l, const Term& term, Expr mod, const Linear& rest) {
  const Expr w = mod.operands()[0];
  const auto b = mod.operands()[1].to_int();
  if (!b || *b <= 0) return false;
  for (const Term& digit : to_linear(w).terms) {
    if (digit.coefficient != 1 || digit.atom.kind() != ExprKind::FloorDiv) continue;
    const auto c = digit.atom.operands()[1].to_int();
    int64_t modulus;
    if (!c || *c <= 1 || term.coefficient % *c != 0) continue;
    if (__builtin_mul_overflow(*b, *c, &modulus)) continue;
    const Expr t = digit.atom.operands()[0] % *c;
    if (t.lower_bound() < 0 || t.upper_bound() >= *c) continue;
    Linear partner, value;
    if (!multiply(partner, to_linear(t), rest) || partner.terms.empty() ||
        l.coefficient_of(partner.terms[0].atom) == 0) {
      continue;
    }
    if (!multiply(value, to_linear((w * *c + t) % modulus), rest)) continue;
    if (replace_group(l, term, partner, value, term.coefficient / *c)) return true;
  }
  return false;
}

bool recombine_once(Linear& l) {
  for (size_t i = 0; i < l.terms.size(); ++i) {
    const Term term = l.terms[i];
    const Node& n = node(term.atom);
    if (!n.has_floor_div && !n.has_mod) continue;
    const auto factors = factors_of(term.atom);
    for (size_t f = 0; f < factors.size(); ++f) {
      const Expr factor = factors[f];
      const bool mod = factor.kind() == ExprKind::Mod;
      if (!mod && factor.kind() != ExprKind::FloorDiv) continue;
      std::vector<Expr> others(factors.begin(), factors.end());
      others.erase(others.begin() + static_cast<ptrdiff_t>(f));
      const Linear rest = to_linear(product_of(std::move(others)));
      if (mod) {
        if (recombine_mod(l, term, factor, rest)) return true;
        if (recombine_digits(l, term, factor, rest)) return true;
      } else if (recombine_div(l, term, factor, rest)) {
        return true;
      }
    }
  }
  return false;
}

// Terminates: each step replaces two or more summands by a part of one of them.
void recombine(Linear& l) {
  for (;;) {
    size_t mods = 0, either = 0;
    for (const Term& t : l.terms) {
      const Node& n = node(t.atom);
      mods += n.has_mod;
      either += n.has_mod || n.has_floor_div;
    }
    if (mods == 0 || either < 2 || !recombine_once(l)) return;
  }
}

}  // namespace

int64_t Linear::coefficient_of(Expr atom) const {
  for (const Term& t : terms) {
    if (t.atom == atom) return t.coefficient;
  }
  return 0;
}

Linear to_linear(Expr e) {
  const Node& n = node(e);
  if (n.kind == ExprKind::Const) return {n.constant, {}};
  if (n.kind != ExprKind::Sum || n.opaque) return {0, {{e, 1}}};
  Linear l{n.constant, {}};
  l.terms.reserve(n.n_operands);
  for (uint32_t i = 0; i < n.n_operands; ++i) {
    l.terms.push_back({n.operands[i], n.coefficients[i]});
  }
  return l;
}

Expr from_linear(Linear l) {
  recombine(l);
  if (l.terms.empty()) return l.constant;
  if (l.terms.size() == 1 && l.constant == 0 && l.terms[0].coefficient == 1) {
    return l.terms[0].atom;
  }
  std::vector<Expr> operands;
  std::vector<int64_t> coefficients;
  operands.reserve(l.terms.size());
  coefficients.reserve(l.terms.size());
  for (const Term& t : l.terms) {
    operands.push_back(t.atom);
    coefficients.push_back(t.coefficient);
  }
  return intern({.kind = ExprKind::Sum,
                 .constant = l.constant,
                 .operands = operands,
                 .coefficients = coefficients});
}

bool add_constant(Linear& into, int64_t value) {
  return !__builtin_add_overflow(into.constant, value, &into.constant);
}

bool add_scaled(Linear& into, const Linear& from, int64_t factor) {
  if (factor == 0) return true;
  std::vector<Term> merged;
  merged.reserve(into.terms.size() + from.terms.size());
  auto a = into.terms.begin();
  for (const Term& t : from.terms) {
    Term scaled{t.atom, 0};
    if (__builtin_mul_overflow(t.coefficient, factor, &scaled.coefficient)) return false;
    while (a != into.terms.end() && in_order(a->atom, t.atom)) merged.push_back(*a++);
    if (a != into.terms.end() && a->atom == t.atom) {
      if (__builtin_add_overflow(a->coefficient, scaled.coefficient, &scaled.coefficient)) {
        return false;
      }
      ++a;
    }
    if (scaled.coefficient != 0) merged.push_back(scaled);
  }
  merged.insert(merged.end(), a, into.terms.end());
  into.terms = std::move(merged);
  int64_t constant;
  return !__builtin_mul_overflow(from.constant, factor, &constant) && add_constant(into, constant);
}

bool subtract_product(Linear& into, Expr quotient, Expr divisor) {
  Linear product;
  const Linear q = to_linear(quotient), d = to_linear(divisor);
  return add_product(product, q, d) && add_scaled(into, product, -1);
}

std::span<const Expr> factors_of(const Expr& atom) {
  const Node& n = node(atom);
  if (n.kind == ExprKind::Product && !n.opaque) return n.operand_span();
  return {&atom, 1};
}

Expr product_of(std::vector<Expr> factors) {
  if (factors.empty()) return 1;
  if (factors.size() == 1) return factors[0];
  std::ranges::sort(factors, in_order);
  return intern_operands(ExprKind::Product, factors);
}

bool remove_factors(std::vector<Expr>& factors, std::span<const Expr> divisor) {
  for (Expr d : divisor) {
    const auto at = std::ranges::find(factors, d);
    if (at == factors.end()) return false;
    factors.erase(at);
  }
  return true;
}

Expr make_sum(Expr a, Expr b) {
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  Linear sum = to_linear(a);
  if (add_scaled(sum, to_linear(b), 1)) return from_linear(std::move(sum));
  return opaque_pair(ExprKind::Sum, a, b);
}

Expr make_difference(Expr a, Expr b) {
  if (a == b) return 0;
  if (b.is(0)) return a;
  Linear difference = to_linear(a);
  if (add_scaled(difference, to_linear(b), -1)) return from_linear(std::move(difference));
  return make_sum(a, make_product(b, -1));
}

Expr make_product(Expr a, Expr b) {
  if (b.to_int()) std::swap(a, b);
  if (const auto k = a.to_int()) {
    if (*k == 0) return 0;
    if (*k == 1) return b;
    Linear scaled;
    if (add_scaled(scaled, to_linear(b), *k)) return from_linear(std::move(scaled));
    return opaque_pair(ExprKind::Product, a, b);
  }
  const Linear left = to_linear(a), right = to_linear(b);
  Linear product;
  const uint64_t nodes =
      right.size() * uint64_t{node(a).tree_size} + left.size() * uint64_t{node(b).tree_size};
  const bool small = left.size() * right.size() <= kMaxExpandedTerms &&
                     (nodes <= kMaxExpandedNodes || (left.size() == 1 && right.size() == 1));
  if (small && add_product(product, left, right)) {
    return from_linear(std::move(product));
  }
  return opaque_pair(ExprKind::Product, a, b);
}

}  // namespace luminal::shape
