// Expr: creation of leaves, accessors, the arithmetic operators and the order of expressions.
#include "luminal/shape/expr.h"

#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/base/hash.h"
#include "luminal/shape/expr/expr_characters.h"
#include "luminal/shape/expr/expr_interner.h"
#include "luminal/shape/expr/expr_linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace luminal {
namespace {

using shape::is_digit;
using shape::is_letter;
using shape::node;

// Whether text() and C source can both use the name; keywords and i0, i1, … are reserved.
bool is_variable_name(std::string_view name) {
  constexpr std::array<std::string_view, 5> kTaken{"min", "max", "ceildiv", "and", "or"};
  if (name.empty() || !is_letter(name[0]) || std::ranges::count(kTaken, name) > 0) return false;
  if (!std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); })) return false;
  return name[0] != 'i' || name.size() == 1 || !std::ranges::all_of(name.substr(1), is_digit);
}

// Per-thread cache of the arithmetic operators: graphs build the same few expressions repeatedly.
struct CachedResult {
  uint32_t a, b, result, operation;  // operation 0: empty
};
constexpr size_t kCacheSize = 2048;
thread_local CachedResult result_cache[kCacheSize];

template <typename F>
Expr cached(uint32_t operation, Expr a, Expr b, F make) {
  if (shape::within_proof()) return make(a, b);
  const uint64_t pair = uint64_t{a.id()} << 32 | b.id();
  CachedResult& entry = result_cache[base::mix(pair + operation) % kCacheSize];
  if (entry.operation == operation && entry.a == a.id() && entry.b == b.id()) {
    return ExprAccess::make(entry.result);
  }
  const Expr result = make(a, b);
  entry = {a.id(), b.id(), result.id(), operation};
  return result;
}

// Products first, then indices, variables and the rest, so that sums read i0 * 64 + i1 + p.
int rank(ExprKind kind) {
  switch (kind) {
    case ExprKind::Product:
      return 0;
    case ExprKind::Index:
      return 1;
    case ExprKind::Var:
      return 2;
    case ExprKind::FloorDiv:
      return 3;
    case ExprKind::CeilDiv:
      return 4;
    case ExprKind::Mod:
      return 5;
    case ExprKind::Min:
      return 6;
    case ExprKind::Max:
      return 7;
    case ExprKind::Sum:
      return 8;
    case ExprKind::GreaterEqual:
      return 9;
    case ExprKind::Less:
      return 10;
    case ExprKind::And:
      return 11;
    case ExprKind::Or:
      return 12;
    case ExprKind::Const:
      return 13;
  }
  return 14;
}

template <typename T>
int order(T a, T b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

}  // namespace

Bindings::Bindings(std::initializer_list<std::pair<std::string, int64_t>> values) {
  for (const auto& [name, value] : values) set(name, value);
}

void Bindings::set(std::string_view name, int64_t value) {
  auto at = std::ranges::lower_bound(
      items_, name, {}, [](const auto& item) -> std::string_view { return item.first; });
  if (at != items_.end() && at->first == name) {
    at->second = value;
  } else {
    items_.emplace(at, std::string(name), value);
  }
}

std::optional<int64_t> Bindings::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(
      items_, name, {}, [](const auto& item) -> std::string_view { return item.first; });
  if (at == items_.end() || at->first != name) return std::nullopt;
  return at->second;
}

Expr Expr::var(std::string_view name, int64_t lower, int64_t upper) {
  if (!is_variable_name(name)) {
    throw UserError(fmt::format(
        "variable: '{}' is no name for a variable; use letters, digits and _, starting with a "
        "letter, and none of min, max, ceildiv, and, or, i0, i1, …",
        name));
  }
  if (lower > upper) {
    throw UserError(fmt::format(
        "variable: {} has the bounds {} … {}, which are an empty range; give the lower one first",
        name, lower, upper));
  }
  return shape::intern({.kind = ExprKind::Var, .lower = lower, .upper = upper, .name = name});
}

Expr Expr::index(int axis, Expr extent) {
  LUMINAL_CHECK(axis >= 0, "the axis of an index is negative");
  return shape::intern({.kind = ExprKind::Index, .axis = axis, .operands = {&extent, 1}});
}

ExprKind Expr::kind() const { return node(*this).kind; }
std::span<const Expr> Expr::operands() const { return node(*this).operand_span(); }
std::span<const int64_t> Expr::coefficients() const { return node(*this).coefficient_span(); }
int64_t Expr::constant_term() const { return node(*this).constant; }
std::string_view Expr::name() const { return node(*this).name_view(); }
int Expr::axis() const { return node(*this).axis; }
int64_t Expr::lower_bound() const { return node(*this).lower; }
int64_t Expr::upper_bound() const { return node(*this).upper; }
uint64_t Expr::hash() const { return node(*this).hash; }

std::optional<int64_t> Expr::to_int() const {
  const shape::Node& n = node(*this);
  if (n.kind != ExprKind::Const) return std::nullopt;
  return n.constant;
}

bool Expr::is(int64_t value) const { return *this == Expr(value); }

Expr operator+(Expr a, Expr b) { return cached(1, a, b, shape::make_sum); }
Expr operator-(Expr a, Expr b) { return cached(2, a, b, shape::make_difference); }
Expr operator-(Expr a) { return a * -1; }
Expr operator*(Expr a, Expr b) { return cached(3, a, b, shape::make_product); }
Expr operator/(Expr a, Expr b) { return cached(4, a, b, shape::make_floor_div); }
Expr operator%(Expr a, Expr b) { return cached(5, a, b, shape::make_mod); }

int compare(Expr a, Expr b) {
  if (a == b) return 0;
  const shape::Node &x = node(a), &y = node(b);
  if (const int c = order(rank(x.kind), rank(y.kind))) return c;
  if (const int c = order(x.axis, y.axis)) return c;
  if (const int c = x.name_view().compare(y.name_view())) return c < 0 ? -1 : 1;
  for (uint32_t i = 0; i < std::min(x.n_operands, y.n_operands); ++i) {
    if (const int c = compare(x.operands[i], y.operands[i])) return c;
  }
  if (const int c = order(x.n_operands, y.n_operands)) return c;
  for (uint32_t i = 0; x.coefficients && y.coefficients && i < x.n_operands; ++i) {
    if (const int c = order(x.coefficients[i], y.coefficients[i])) return c;
  }
  if (const int c = order(x.constant, y.constant)) return c;
  if (const int c = order(x.lower, y.lower)) return c;
  if (const int c = order(x.upper, y.upper)) return c;
  return order<int>(x.opaque, y.opaque);
}

}  // namespace luminal
