// known_less and known_less_equal: proofs from bounds and the extents of indices.
#include "luminal/shape/expr/expr_bounds.h"
#include "luminal/shape/expr/expr_interner.h"
#include "luminal/shape/expr/expr_linear.h"

#include <algorithm>
#include <unordered_map>

namespace luminal::shape {
namespace {

// Proofs simplify expressions, and simplification asks for proofs: this limits the nesting.
constexpr int kMaxProofDepth = 3;
thread_local int proof_depth = 0;

struct ProofScope {
  ProofScope() { ++proof_depth; }
  ~ProofScope() { --proof_depth; }
  ProofScope(const ProofScope&) = delete;
  ProofScope& operator=(const ProofScope&) = delete;
};

Expr extreme(Expr e, bool upper);

// The first operand of a Min or Max that isn't a constant: constants are in its bounds already.
Expr symbolic_operand(Expr e) {
  const auto operands = e.operands();
  const auto at = std::ranges::find_if(operands, [](Expr o) { return !o.to_int(); });
  return at == operands.end() ? operands[0] : *at;
}

// An expression, if possible without indices, that bounds a factor from above or below.
Expr extreme_factor(Expr e, bool upper) {
  switch (e.kind()) {
    case ExprKind::Index:
      return upper ? extreme(e.operands()[0], true) - 1 : Expr(0);
    case ExprKind::Mod:
      if (e.operands()[1].lower_bound() < 0) return e;
      return upper ? extreme(e.operands()[1], true) - 1 : Expr(0);
    case ExprKind::FloorDiv:
      if (e.operands()[1].lower_bound() < 0 || e.operands()[1].uses_indices()) return e;
      return extreme(e.operands()[0], upper) / e.operands()[1];
    case ExprKind::CeilDiv:
      if (e.operands()[1].lower_bound() < 0 || e.operands()[1].uses_indices()) return e;
      return ceil_div(extreme(e.operands()[0], upper), e.operands()[1]);
    case ExprKind::Sum:
      return node(e).opaque ? e : extreme(e, upper);
    case ExprKind::Min:  // at most any operand
      return upper ? extreme(symbolic_operand(e), true) : e;
    case ExprKind::Max:
      return upper ? e : extreme(symbolic_operand(e), false);
    case ExprKind::Const:
    case ExprKind::Var:
    case ExprKind::Product:
    case ExprKind::Less:
    case ExprKind::GreaterEqual:
    case ExprKind::And:
    case ExprKind::Or:
      return e;
  }
  return e;
}

Expr extreme_atom(Expr atom, bool upper) {
  const auto factors = factors_of(atom);
  if (factors.size() == 1) return extreme_factor(atom, upper);
  for (Expr f : factors) {
    if (f.lower_bound() < 0) return atom;  // not monotone in its factors
  }
  Expr product = 1;
  for (Expr f : factors) {
    const Expr bound = extreme_factor(f, upper);
    if (!upper && bound.lower_bound() < 0) return 0;
    product = product * bound;
  }
  return product;
}

// Memoised results of extreme(). The proof depth is part of the key, since it decides how far a
// result is simplified.
class KnownExtremes {
 public:
  std::optional<Expr> find(Expr e, bool upper) const {
    const auto at = known_.find(key(e, upper));
    return at == known_.end() ? std::nullopt : std::optional(at->second);
  }
  void add(Expr e, bool upper, Expr result) {
    if (known_.size() >= kMost) known_.clear();
    known_.emplace(key(e, upper), result);
  }

 private:
  static constexpr size_t kMost = 1 << 14;

  static uint64_t key(Expr e, bool upper) {
    return uint64_t{e.id()} << 8 | static_cast<uint64_t>(proof_depth) << 1 | (upper ? 1 : 0);
  }

  std::unordered_map<uint64_t, Expr> known_;
};
thread_local KnownExtremes known_extremes;

// An expression that is ≥ e (≤ e) wherever e has a value.
Expr extreme(Expr e, bool upper) {
  if (e.to_int()) return e;
  if (const auto known = known_extremes.find(e, upper)) return *known;
  const Linear l = to_linear(e);
  Expr result = l.constant;
  for (const Term& t : l.terms) {
    result = result + extreme_atom(t.atom, (t.coefficient > 0) == upper) * t.coefficient;
  }
  known_extremes.add(e, upper, result);
  return result;
}

// An expression ≤ e in which k·c·(a // c) and k·c·ceil(a / c) are replaced by bounds in terms of
// k·a: both differ from k·a by less than |k|·c.
Expr without_quotients(Expr e) {
  const Linear l = to_linear(e);
  Expr result = l.constant;
  for (const Term& t : l.terms) {
    const ExprKind kind = t.atom.kind();
    const bool quotient = kind == ExprKind::FloorDiv || kind == ExprKind::CeilDiv;
    const int64_t divisor = quotient ? t.atom.operands()[1].to_int().value_or(0) : 0;
    if (divisor <= 0 || t.coefficient % divisor != 0) {
      result = result + t.atom * t.coefficient;
      continue;
    }
    // Takes whichever end of the rounding error, 0 or divisor − 1, makes e smaller.
    Expr dividend = t.atom.operands()[0];
    if (kind == ExprKind::FloorDiv && t.coefficient > 0) dividend = dividend - (divisor - 1);
    if (kind == ExprKind::CeilDiv && t.coefficient < 0) dividend = dividend + (divisor - 1);
    result = result + dividend * (t.coefficient / divisor);
  }
  return result;
}

// Whether e ≥ bound, by the bounds of e itself or of e with its indices at their extremes.
bool known_at_least(Expr e, int64_t bound) {
  if (e.lower_bound() >= bound) return true;
  if (e.upper_bound() < bound || proof_depth >= kMaxProofDepth) return false;
  const Node& n = node(e);
  if (n.tree_size > 200) return false;
  if (!n.has_variables && n.index_mask == 0) return false;
  const ProofScope scope;
  const Expr least = extreme(e, false);
  return least.lower_bound() >= bound || without_quotients(least).lower_bound() >= bound;
}

// b − a, unless that overflows.
std::optional<Expr> difference(Expr b, Expr a) {
  Linear l = to_linear(b);
  if (!add_scaled(l, to_linear(a), -1)) return std::nullopt;
  return from_linear(std::move(l));
}

}  // namespace

bool within_proof() { return proof_depth > 0; }

bool known_in_range(Expr x, Expr d) { return known_at_least(x, 0) && known_less(x, d); }

}  // namespace luminal::shape

namespace luminal {

bool known_less_equal(Expr a, Expr b) {
  if (a == b) return true;
  if (a.upper_bound() != INT64_MAX && a.upper_bound() <= b.lower_bound()) return true;
  if (a.lower_bound() > b.upper_bound()) return false;
  const auto d = shape::difference(b, a);
  return d && shape::known_at_least(*d, 0);
}

bool known_less(Expr a, Expr b) {
  if (a == b) return false;
  if (a.upper_bound() < b.lower_bound()) return true;
  if (a.lower_bound() >= b.upper_bound()) return false;
  const auto d = shape::difference(b, a);
  return d && shape::known_at_least(*d, 1);
}

}  // namespace luminal
