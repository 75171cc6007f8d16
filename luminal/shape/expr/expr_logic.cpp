// Min, max, comparisons, and, or.
#include "luminal/shape/expr/expr_interner.h"
#include "luminal/shape/expr/expr_linear.h"
#include "luminal/shape/expr/wide.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace luminal::shape {
namespace {

std::vector<Expr> flattened(ExprKind kind, Expr e) {
  if (e.kind() != kind) return {e};
  const auto operands = e.operands();
  return {operands.begin(), operands.end()};
}

Expr min_or_max(ExprKind kind, Expr a, Expr b) {
  const auto wins = [&](Expr x, Expr y) {
    return kind == ExprKind::Min ? known_less_equal(x, y) : known_less_equal(y, x);
  };
  std::vector<Expr> kept = flattened(kind, a);
  for (Expr candidate : flattened(kind, b)) {
    if (std::ranges::any_of(kept, [&](Expr k) { return wins(k, candidate); })) continue;
    std::erase_if(kept, [&](Expr k) { return wins(candidate, k); });
    kept.push_back(candidate);
  }
  if (kept.size() == 1) return kept[0];
  std::ranges::sort(kept, in_order);
  return intern_operands(kind, kept);
}

Wide ceil_divide(Wide a, Wide b) { return -floor_divide(-a, b); }

bool is_boolean(Expr e) { return e.lower_bound() >= 0 && e.upper_bound() <= 1; }

bool is_comparison(Expr e) {
  return e.kind() == ExprKind::Less || e.kind() == ExprKind::GreaterEqual;
}

Expr make_comparison(bool less, Expr x, int64_t limit);

Expr raw_comparison(bool less, Expr a, Expr b) {
  return intern_binary(less ? ExprKind::Less : ExprKind::GreaterEqual, a, b, true);
}

Expr negated_comparison(Expr e) {
  const bool less = e.kind() == ExprKind::Less;
  const Expr a = e.operands()[0], b = e.operands()[1];
  return node(e).opaque ? raw_comparison(!less, a, b) : make_comparison(!less, a, *b.to_int());
}

// x < limit (or x ≥ limit) for a sum x without constant, with coprime coefficients, the first of
// them positive.
Expr make_comparison(bool less, Expr x, int64_t limit) {
  if (x.upper_bound() < limit) return less;
  if (x.lower_bound() >= limit) return !less;
  if (is_comparison(x) && limit == 1) return less ? negated_comparison(x) : x;
  if (is_boolean(x) && limit == 1 && !less) return x;
  if (x.kind() == ExprKind::FloorDiv) {  // ⌊y / c⌋ < k where y < k·c
    const auto c = x.operands()[1].to_int();
    int64_t scaled;
    if (c && *c > 0 && !__builtin_mul_overflow(*c, limit, &scaled)) {
      const Expr y = x.operands()[0];
      return less ? y < scaled : y >= scaled;
    }
  }
  const bool proven_less = known_less(x, limit);
  if (proven_less) return less;
  if (known_less_equal(limit, x)) return !less;
  return intern_binary(less ? ExprKind::Less : ExprKind::GreaterEqual, x, limit);
}

Expr comparison(bool less, Expr a, Expr b) {
  Linear d = to_linear(a);
  if (!add_scaled(d, to_linear(b), -1)) return raw_comparison(less, a, b);
  d = to_linear(from_linear(std::move(d)));  // recombined
  if (d.terms.empty()) return less ? d.constant < 0 : d.constant >= 0;
  int64_t g = 0;
  for (const Term& t : d.terms) {
    if (t.coefficient == INT64_MIN) return raw_comparison(less, a, b);
    g = std::gcd(g, t.coefficient);
  }
  // Σ k·x < −constant; dividing by a negative number turns < r into ≥ 1 − r.
  Wide limit = -static_cast<Wide>(d.constant);
  const bool turn = d.terms[0].coefficient < 0;
  if (turn) {
    less = !less;
    limit = 1 - limit;
    g = -g;
  }
  limit = ceil_divide(limit, g < 0 ? -g : g);
  if (limit <= INT64_MIN || limit > INT64_MAX) {
    return raw_comparison(turn ? !less : less, a, b);
  }
  for (Term& t : d.terms) t.coefficient /= g;
  d.constant = 0;
  return make_comparison(less, from_linear(std::move(d)), static_cast<int64_t>(limit));
}

// A comparison in canonical form: x < limit or x ≥ limit.
struct Limit {
  Expr x;
  int64_t limit;
  bool less;
};
std::optional<Limit> limit_of(Expr e) {
  if (!is_comparison(e) || node(e).opaque) return std::nullopt;
  const auto limit = e.operands()[1].to_int();
  if (!limit) return std::nullopt;
  return Limit{e.operands()[0], *limit, e.kind() == ExprKind::Less};
}

enum class Relation : uint8_t { None, KeepFirst, KeepSecond, Decided };

// How two operands of an And (Or) that compare the same x relate: one implies the other, or both
// together decide the result (0 for And, 1 for Or).
Relation relate(bool conjunction, Expr a, Expr b) {
  if (a == b) return Relation::KeepFirst;
  const auto p = limit_of(a), q = limit_of(b);
  if (!p || !q || p->x != q->x) return Relation::None;
  if (p->less == q->less) {
    const bool first_narrower = p->less ? p->limit <= q->limit : p->limit >= q->limit;
    return first_narrower == conjunction ? Relation::KeepFirst : Relation::KeepSecond;
  }
  const int64_t below = p->less ? p->limit : q->limit;  // x < below
  const int64_t from = p->less ? q->limit : p->limit;   // x ≥ from
  const bool decided = conjunction ? from >= below : from <= below;
  return decided ? Relation::Decided : Relation::None;
}

bool known_nonzero(Expr e) { return e.lower_bound() > 0 || e.upper_bound() < 0; }

// The x that an operand compares, or the operand itself. Only operands with equal subjects relate.
Expr subject_of(Expr e) {
  const auto limit = limit_of(e);
  return limit ? limit->x : e;
}

// The operands of an And (Or) so far, indexed by subject: comparing all pairs would make long
// chains take cubic time.
class LogicOperands {
 public:
  explicit LogicOperands(bool conjunction) : conjunction_(conjunction) {}

  // False if `e` decides the result.
  bool add(Expr e) {
    std::vector<size_t>& about = places_[subject_of(e).hash()];
    for (size_t i = 0; i < about.size(); ++i) {
      switch (relate(conjunction_, operands_[about[i]], e)) {
        case Relation::None:
          break;
        case Relation::KeepFirst:
          return true;
        case Relation::KeepSecond:
          dropped_[about[i]] = true;
          about.erase(about.begin() + static_cast<ptrdiff_t>(i--));
          break;
        case Relation::Decided:
          return false;
      }
    }
    about.push_back(operands_.size());
    operands_.push_back(e);
    dropped_.push_back(false);
    return true;
  }

  std::vector<Expr> kept() const {
    std::vector<Expr> result;
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (!dropped_[i]) result.push_back(operands_[i]);
    }
    return result;
  }

 private:
  bool conjunction_;
  std::vector<Expr> operands_;
  std::vector<bool> dropped_;
  std::unordered_map<uint64_t, std::vector<size_t>> places_;  // by the hash of the subject
};

// And and Or only test operands for non-zero; a single operand that isn't 0/1 stays under an And.
Expr make_logic(bool conjunction, Expr a, Expr b) {
  const ExprKind kind = conjunction ? ExprKind::And : ExprKind::Or;
  LogicOperands operands(conjunction);
  for (Expr side : {a, b}) {
    const bool lone = side.kind() == ExprKind::And && side.operands().size() == 1;
    for (Expr e : lone ? flattened(ExprKind::And, side) : flattened(kind, side)) {
      if (e.is(0) || known_nonzero(e)) {
        if (e.is(0) == conjunction) return !conjunction;
        continue;
      }
      if (!operands.add(e)) return !conjunction;
    }
  }
  std::vector<Expr> kept = operands.kept();
  if (kept.empty()) return conjunction;
  if (kept.size() == 1) {
    return is_boolean(kept[0]) ? kept[0] : intern_operands(ExprKind::And, kept);
  }
  std::ranges::sort(kept, in_order);
  return intern_operands(kind, kept);
}

}  // namespace
}  // namespace luminal::shape

namespace luminal {

Expr min(Expr a, Expr b) { return shape::min_or_max(ExprKind::Min, a, b); }
Expr max(Expr a, Expr b) { return shape::min_or_max(ExprKind::Max, a, b); }
Expr operator<(Expr a, Expr b) { return shape::comparison(true, a, b); }
Expr operator>=(Expr a, Expr b) { return shape::comparison(false, a, b); }
Expr operator&&(Expr a, Expr b) { return shape::make_logic(true, a, b); }
Expr operator||(Expr a, Expr b) { return shape::make_logic(false, a, b); }

}  // namespace luminal
