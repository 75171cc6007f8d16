// Exact evaluation of expressions under bindings. Intermediate results have 128 bits, sums 192, so
// that no order of summands makes an intermediate value overflow.
#include "luminal/shape/expr/expr_interner.h"
#include "luminal/shape/expr/wide.h"

#include <fmt/format.h>

#include <unordered_map>

namespace luminal {
namespace {

using shape::floor_divide;
using shape::Node;
using shape::node;
using shape::Wide;

// Σ coefficient · value as high · 2^64 + low with 0 ≤ low < 2^64.
class ExactSum {
 public:
  void add(int64_t coefficient, Wide value) {
    const Wide k = coefficient;
    add_low(k * static_cast<Wide>(static_cast<uint64_t>(value)));
    add_high(k * (value >> 64));
  }
  std::optional<Wide> value() const {
    if (wraps_ != 0 || high_ < INT64_MIN || high_ > INT64_MAX) return std::nullopt;
    return static_cast<Wide>(static_cast<unsigned __int128>(high_) << 64 | low_);
  }

 private:
  void add_low(Wide amount) {
    const unsigned __int128 sum =
        static_cast<unsigned __int128>(low_) + static_cast<uint64_t>(amount);
    low_ = static_cast<uint64_t>(sum);
    add_high((amount >> 64) + static_cast<Wide>(sum >> 64));
  }
  void add_high(Wide amount) {
    if (__builtin_add_overflow(high_, amount, &high_)) wraps_ += amount < 0 ? -1 : 1;
  }

  Wide high_ = 0;
  uint64_t low_ = 0;
  int wraps_ = 0;
};

class Evaluator {
 public:
  Evaluator(const Bindings& bindings, std::span<const int64_t> index, bool remember)
      : bindings_(bindings), index_(index), remember_(remember) {}

  // If there is no value, `why` says the reason.
  std::optional<Wide> evaluate(Expr e) {
    const Node& n = node(e);
    if (n.kind == ExprKind::Const) return n.constant;
    const bool remember = remember_ && n.n_operands > 0;
    if (remember) {
      const auto known = memo_.find(e.id());
      if (known != memo_.end()) return known->second;
    }
    const auto value = compute(e, n);
    if (remember && value) memo_.emplace(e.id(), *value);
    return value;
  }

  std::string why;

 private:
  std::optional<Wide> fail(std::string reason) {
    if (why.empty()) why = std::move(reason);
    return std::nullopt;
  }

  std::optional<Wide> compute(Expr e, const Node& n) {
    switch (n.kind) {
      case ExprKind::Const:
        return n.constant;
      case ExprKind::Var: {
        const auto value = bindings_.find(n.name_view());
        if (!value) return fail(fmt::format("variable {} has no value", n.name_view()));
        return within(e, n, *value);
      }
      case ExprKind::Index:
        if (static_cast<size_t>(n.axis) >= index_.size()) {
          return fail(fmt::format("index i{} has no value", n.axis));
        }
        return within(e, n, index_[static_cast<size_t>(n.axis)]);
      case ExprKind::Sum:
        return sum(e, n);
      case ExprKind::Product:
        return product(e, n);
      case ExprKind::FloorDiv:
      case ExprKind::CeilDiv:
      case ExprKind::Mod:
        return division(e, n);
      case ExprKind::Less:
      case ExprKind::GreaterEqual: {
        const auto a = evaluate(n.operands[0]), b = evaluate(n.operands[1]);
        if (!a || !b) return std::nullopt;
        return (*a < *b) == (n.kind == ExprKind::Less);
      }
      case ExprKind::Min:
      case ExprKind::Max: {
        auto best = evaluate(n.operands[0]);
        for (uint32_t i = 1; best && i < n.n_operands; ++i) {
          const auto value = evaluate(n.operands[i]);
          if (!value) return std::nullopt;
          if (n.kind == ExprKind::Min ? *value < *best : *value > *best) best = value;
        }
        return best;
      }
      case ExprKind::And:
      case ExprKind::Or:
        return logic(n, n.kind == ExprKind::And);
    }
    return std::nullopt;
  }

  std::optional<Wide> within(Expr e, const Node& n, int64_t value) {
    if (value >= n.lower && value <= n.upper) return value;
    return fail(
        fmt::format("{} = {} is outside its bounds {} … {}", e.text(), value, n.lower, n.upper));
  }

  std::optional<Wide> sum(Expr e, const Node& n) {
    ExactSum total;
    total.add(1, n.constant);
    for (uint32_t i = 0; i < n.n_operands; ++i) {
      const auto value = evaluate(n.operands[i]);
      if (!value) return std::nullopt;
      total.add(n.coefficients[i], *value);
    }
    const auto value = total.value();
    return value ? value : fail(fmt::format("{} overflows 128 bits", e.text()));
  }

  // One zero factor makes the product 0, however large the others are.
  std::optional<Wide> product(Expr e, const Node& n) {
    Wide result = 1;
    bool overflow = false, zero = false;
    for (uint32_t i = 0; i < n.n_operands; ++i) {
      const auto value = evaluate(n.operands[i]);
      if (!value) return std::nullopt;
      zero |= *value == 0;
      overflow |= __builtin_mul_overflow(result, *value, &result);
    }
    if (zero) return 0;
    return overflow ? fail(fmt::format("{} overflows 128 bits", e.text())) : result;
  }

  std::optional<Wide> division(Expr e, const Node& n) {
    const auto a = evaluate(n.operands[0]), b = evaluate(n.operands[1]);
    if (!a || !b) return std::nullopt;
    if (*b == 0) return fail(fmt::format("{} divides by zero", e.text()));
    if (n.kind == ExprKind::Mod) {
      if (*b == -1) return 0;
      const Wide r = *a % *b;
      return r != 0 && (r < 0) != (*b < 0) ? r + *b : r;
    }
    constexpr Wide kMin = static_cast<Wide>(1) << 126;
    if (*b == -1 && *a <= -kMin - kMin) return fail(fmt::format("{} overflows 128 bits", e.text()));
    const Wide q = floor_divide(*a, *b);
    return n.kind == ExprKind::CeilDiv && q * *b != *a ? q + 1 : q;
  }

  // Short-circuits: a deciding operand gives the result even if others have no value.
  std::optional<Wide> logic(const Node& n, bool conjunction) {
    bool missing = false;
    for (uint32_t i = 0; i < n.n_operands; ++i) {
      const auto value = evaluate(n.operands[i]);
      missing |= !value;
      if (value && (*value != 0) != conjunction) return !conjunction;
    }
    if (missing) return std::nullopt;
    return conjunction;
  }

  const Bindings& bindings_;
  std::span<const int64_t> index_;
  bool remember_;
  std::unordered_map<uint32_t, Wide> memo_;
};

}  // namespace

Expr::Value Expr::evaluate(const Bindings& bindings, std::span<const int64_t> index) const {
  // Memoised for large expressions, whose trees may repeat shared parts exponentially often; small
  // ones are faster without.
  Evaluator evaluator(bindings, index, node(*this).tree_size > 64);
  const auto value = evaluator.evaluate(*this);
  if (!value) return {std::nullopt, std::move(evaluator.why)};
  if (*value < INT64_MIN || *value > INT64_MAX) {
    return {std::nullopt, fmt::format("{} overflows 64 bits", text())};
  }
  return {static_cast<int64_t>(*value), {}};
}

}  // namespace luminal
