// Linear: an expression as constant + Σ coefficient · atom, the form that the simplifier works on.
//
// Canonical form: a Sum's operands are atoms (anything but Const and Sum), sorted and distinct; a
// Product's factors are neither Const, Sum nor Product, sorted. So polynomials are expanded. Where
// expansion would overflow 64-bit coefficients or grow too large, the node stays opaque: its
// operands are kept as written, and it counts as an atom (a factor).
//
// Example: 2·(a + b)·a + 3 becomes 3 + 2·(a·a) + 2·(a·b): constant 3, two atoms with coefficient 2.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "luminal/shape/expr.h"

namespace luminal::shape {

struct Term {
  Expr atom;
  int64_t coefficient;
};

struct Linear {
  int64_t constant = 0;
  std::vector<Term> terms;  // sorted by compare(), no zero coefficients

  // How many summands it has, the constant included unless it is 0.
  size_t size() const { return terms.size() + (constant != 0); }
  int64_t coefficient_of(Expr atom) const;
};

Linear to_linear(Expr e);
// The canonical expression for it; pairs c·(x div c) + (x mod c) become x.
Expr from_linear(Linear linear);

// These return false on overflow and leave `into` undefined.
[[nodiscard]] bool add_scaled(Linear& into, const Linear& from, int64_t factor);
[[nodiscard]] bool add_constant(Linear& into, int64_t value);
// into −= quotient · divisor.
[[nodiscard]] bool subtract_product(Linear& into, Expr quotient, Expr divisor);

// Whether a comes before b among operands and factors.
inline bool in_order(Expr a, Expr b) { return compare(a, b) < 0; }

// The factors of an atom: the operands of a Product, else itself.
std::span<const Expr> factors_of(const Expr& atom);
// The product of non-constant factors, an atom.
Expr product_of(std::vector<Expr> factors);
// Removes `divisor` from `factors` as multisets; false if it isn't contained.
bool remove_factors(std::vector<Expr>& factors, std::span<const Expr> divisor);

// Whether x lies in [0, d); false when unknown. Assumes d > 0 if lower(d) ≥ 0.
bool known_in_range(Expr x, Expr d);

// The arithmetic operators without their result cache.
Expr make_sum(Expr a, Expr b);
Expr make_difference(Expr a, Expr b);
Expr make_product(Expr a, Expr b);
Expr make_floor_div(Expr a, Expr b);
Expr make_mod(Expr a, Expr b);

// True while known_less and known_less_equal build expressions for a proof. Those may be less
// simplified than usual, because the depth of nested proofs is limited, so they must not be cached.
bool within_proof();

}  // namespace luminal::shape
