#include "luminal/pytorch/pt2/symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/io/file/quote.h"
#include "luminal/pytorch/size_arithmetic.h"
#include "luminal/shape/expr/expr_size.h"
#include "luminal/shape/expr/wide.h"
#include "luminal/shape/index/affine_dim.h"

namespace luminal::pytorch {
namespace {

constexpr int kDeepest = 200;
constexpr int kMostParts = 1000;
constexpr uint32_t kMostNodes = 5000;  // of an expression as it is simplified
constexpr int64_t kLargestPower = 16;
constexpr int64_t kLargestModulus = 1 << 16;  // that a symbol is divided by

using shape::Wide;

class Reader {
 public:
  Reader(std::string_view text, const Symbols& symbols) : text_(text), symbols_(symbols) {}

  Expr all() {
    const Expr result = expression(0);
    if (at_ != text_.size()) fail("the end");
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw UserError(fmt::format("size {}: expected {} at character {}",
                                io::quote(text_.substr(0, 200)), expected, at_));
  }

  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void need(std::string_view word) {
    if (!take(word)) fail(std::string(word));
  }

  int64_t integer() {
    int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("an integer");
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }

  std::string quoted() {
    need("'");
    const size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) fail("'");
    std::string name(text_.substr(at_, end - at_));
    at_ = end + 1;
    return name;
  }

  // The rest of a symbol: assumptions such as positive=True.
  void skip_assumptions() {
    const size_t end = text_.find(')', at_);
    if (end == std::string_view::npos) fail(")");
    at_ = end + 1;
  }

  std::vector<Expr> operands(int depth) {
    std::vector<Expr> all{expression(depth + 1)};
    while (take(", ")) all.push_back(expression(depth + 1));
    need(")");
    return all;
  }

  template <typename F>
  Expr folded(const std::vector<Expr>& of, F f) const {
    Expr result = of[0];
    for (size_t i = 1; i < of.size(); ++i) result = checked(f(result, of[i]));
    return result;
  }

  // Products of sums and powers grow with every step.
  Expr checked(Expr result) const {
    if (shape::tree_size(result) > kMostNodes) fail("a size of fewer parts");
    return result;
  }

  Expr power(const std::vector<Expr>& of) {
    const auto exponent = of.size() == 2 ? of[1].to_int() : std::nullopt;
    if (!exponent || *exponent < 0 || *exponent > kLargestPower) fail("a small whole power");
    Expr result = 1;
    for (int64_t i = 0; i < *exponent; ++i) result = checked(result * of[0]);
    return result;
  }

  Expr expression(int depth) {
    if (depth > kDeepest) fail("a size that is nested less deeply");
    if (++parts_ > kMostParts) fail("a size of fewer parts");
    if (take("Integer(")) {
      const int64_t value = integer();
      need(")");
      return value;
    }
    if (take("Symbol(")) {
      const std::string name = quoted();
      skip_assumptions();
      return symbols_.variable(name);
    }
    if (take("Add(")) return folded(operands(depth), [](Expr a, Expr b) { return a + b; });
    if (take("Mul(")) return folded(operands(depth), [](Expr a, Expr b) { return a * b; });
    if (take("Max(")) return folded(operands(depth), [](Expr a, Expr b) { return max(a, b); });
    if (take("Min(")) return folded(operands(depth), [](Expr a, Expr b) { return min(a, b); });
    if (take("FloorDiv(") || take("CleanDiv(") || take("torch.utils._sympy.functions.FloorDiv(")) {
      return folded(operands(depth), [](Expr a, Expr b) { return a / b; });
    }
    if (take("Mod(") || take("PythonMod(")) {
      return folded(operands(depth), remainder);
    }
    if (take("Pow(")) return power(operands(depth));
    fail("Integer, Symbol, Add, Mul, Max, Min, FloorDiv, Mod or Pow");
  }

  std::string_view text_;
  const Symbols& symbols_;
  size_t at_ = 0;
  int parts_ = 0;
};

void check_range(const std::string& name, int64_t lower, int64_t upper) {
  if (lower <= upper) return;
  throw UserError(fmt::format("{} would have the bounds {} … {}, which are an empty range", name,
                              lower, upper));
}

// The v with k·v = r modulo m, as v % modulus == remainder; none if there is no such v.
struct Congruence {
  int64_t modulus, remainder;
};
std::optional<Congruence> solved(int64_t k, int64_t r, int64_t m) {
  const int64_t g = std::gcd(k, m);
  if (g == 0 || r % g != 0) return std::nullopt;
  const int64_t modulus = m / g;
  if (modulus > kLargestModulus) return std::nullopt;
  const auto reduced = [modulus](int64_t value) { return (value % modulus + modulus) % modulus; };
  for (int64_t v = 0; v < modulus; ++v) {
    if (reduced(k / g) * v % modulus == reduced(r / g)) return Congruence{modulus, v};
  }
  return std::nullopt;
}

}  // namespace

void Symbols::set_range(const std::string& name, int64_t lower, int64_t upper) {
  ranges_[name] = {std::max<int64_t>(lower, 0), std::min(upper, Expr::kMaxVar)};
}

Symbols::Range Symbols::range_of(const std::string& name) const {
  const auto found = ranges_.find(name);
  return found == ranges_.end() ? Range{} : found->second;
}

bool Symbols::narrow(const std::string& name, Range range) {
  const Range known = range_of(name);
  range = {std::max(known.lower, range.lower), std::min(known.upper, range.upper)};
  check_range(name, range.lower, range.upper);
  if (range.lower == known.lower && range.upper == known.upper) return false;
  ranges_[name] = range;
  return true;
}

bool Symbols::define(const std::string& name, Definition definition) {
  const Range known = range_of(name), range = range_of(definition.symbol);
  const auto quotient = [&](int64_t of, Wide rounding) {
    return static_cast<int64_t>(
        shape::floor_divide(Wide{of} - definition.offset + rounding, definition.scale));
  };
  const Range left{std::max(range.lower, quotient(known.lower, definition.scale - 1)),
                   std::min(range.upper, quotient(known.upper, 0))};
  check_range(definition.symbol, left.lower, left.upper);
  ranges_[definition.symbol] = left;
  definitions_[name] = std::move(definition);
  return true;
}

bool Symbols::set_equal(Expr a, Expr b) {
  if (a == b) return false;
  if (a.kind() != ExprKind::Var) std::swap(a, b);
  const auto other = affine_dim(b);
  if (a.kind() != ExprKind::Var || !other || other->variable.name() == a.name()) return false;
  return define(std::string(a.name()),
                {std::string(other->variable.name()), other->scale, other->offset});
}

bool Symbols::set_at_most(Expr a, Expr b) {
  // Canonical: a symbol is compared with a number, also where it was divided by one.
  const Expr fact = b >= a;
  const auto is_bound = [](Expr size, Expr by) {
    return size.kind() == ExprKind::Var && by.to_int().has_value();
  };
  if (fact.to_int() == 0 && (is_bound(a, b) || is_bound(b, a))) {
    throw UserError(fmt::format("{} is never at most {}", a.text(), b.text()));
  }
  const bool are_many = fact.kind() == ExprKind::And;
  const std::span<const Expr> parts = are_many ? fact.operands() : std::span(&fact, 1);
  bool is_new = false;
  for (Expr part : parts) {
    const bool is_less = part.kind() == ExprKind::Less;
    if (!is_less && part.kind() != ExprKind::GreaterEqual) continue;
    const Expr of = part.operands()[0];
    const auto limit = part.operands()[1].to_int();
    const auto modulus = of.kind() == ExprKind::Mod ? of.operands()[1].to_int() : std::nullopt;
    if (is_less && limit == 1 && modulus && *modulus > 0) {
      is_new |= set_remainder(of.operands()[0], *modulus, 0);
      continue;
    }
    if (of.kind() != ExprKind::Var || !limit || (is_less && *limit <= 0)) continue;
    is_new |= narrow(std::string(of.name()),
                     is_less ? Range{.upper = *limit - 1} : Range{.lower = *limit});
  }
  return is_new;
}

bool Symbols::set_remainder(Expr x, int64_t modulus, int64_t remainder) {
  const bool is_sum = x.kind() == ExprKind::Sum && x.operands().size() == 1;
  const Expr variable = is_sum ? x.operands()[0] : x;
  if (variable.kind() != ExprKind::Var) return false;
  const int64_t scale = is_sum ? x.coefficients()[0] : 1;
  const auto found = solved(scale % modulus, (remainder - x.constant_term() % modulus), modulus);
  if (!found || found->modulus == 1) return false;
  const std::string name(variable.name());
  std::string part = fmt::format("{}_by_{}", name, found->modulus);
  while (ranges_.contains(part) || definitions_.contains(part)) part += '_';
  return define(name, {part, found->modulus, found->remainder});
}

Expr Symbols::variable(const std::string& name) const {
  if (const auto known = definitions_.find(name); known != definitions_.end()) {
    const Definition& definition = known->second;
    return variable(definition.symbol) * definition.scale + definition.offset;
  }
  const Range range = range_of(name);
  return Expr::var(name, range.lower, range.upper);
}

Expr Symbols::parse(std::string_view text) const { return Reader(text, *this).all(); }

}  // namespace luminal::pytorch
