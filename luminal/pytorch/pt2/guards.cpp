#include "luminal/pytorch/pt2/guards.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <utility>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/io/file/quote.h"
#include "luminal/pytorch/size_arithmetic.h"
#include "luminal/shape/expr/expr_size.h"

namespace luminal::pytorch {
namespace {

constexpr int kMostPasses = 4;
constexpr int kDeepestGuard = 100;
constexpr int kMostGuardParts = 500;
constexpr uint32_t kMostGuardNodes = 2000;  // of an expression as it is simplified
constexpr int64_t kLargestGuardPower = 4;

// Not a guard of the forms that are known: never leaves this file.
struct Unknown {};

struct Comparison {
  Expr left, right;
  std::string_view relation;  // "==", "<=", ">=", "<", ">", "!="
};

// A comparison of integers as Python writes it.
class GuardReader {
 public:
  using Operator = Expr (*)(Expr, Expr);
  GuardReader(std::string_view text, Operator modulo, const InputDim& dim, const Symbols& symbols)
      : text_(text), modulo_(modulo), dim_(dim), symbols_(symbols) {}

  Comparison comparison() {
    const Expr left = sum(0);
    for (std::string_view relation : {"==", "<=", ">=", "!=", "<", ">"}) {
      if (!take(relation)) continue;
      const Expr right = sum(0);
      if (!text_.empty()) throw Unknown();
      return {left, right, relation};
    }
    throw Unknown();
  }

 private:
  bool take(std::string_view word) {
    while (text_.starts_with(' ')) text_.remove_prefix(1);
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  void need(std::string_view word) {
    if (!take(word)) throw Unknown();
  }

  // Products of sums grow with every step.
  static Expr checked(Expr result) {
    if (shape::tree_size(result) > kMostGuardNodes) throw Unknown();
    return result;
  }

  Expr sum(int depth) {
    Expr result = product(depth);
    for (;;) {
      if (take("+")) {
        result = checked(result + product(depth));
      } else if (take("-")) {
        result = checked(result - product(depth));
      } else {
        return result;
      }
    }
  }

  Expr product(int depth) {
    Expr result = power(depth);
    for (;;) {
      if (take("//")) {
        result = checked(result / power(depth));
      } else if (take("*")) {
        result = checked(result * power(depth));
      } else if (take("%")) {
        result = checked(modulo_(result, power(depth)));
      } else {
        return result;
      }
    }
  }

  Expr power(int depth) {
    if (depth > kDeepestGuard) throw Unknown();
    if (take("-")) return -power(depth + 1);
    const Expr base = operand(depth);
    if (!take("**")) return base;
    const int64_t exponent = integer();
    if (exponent < 0 || exponent > kLargestGuardPower) throw Unknown();
    Expr result = 1;
    for (int64_t i = 0; i < exponent; ++i) result = checked(result * base);
    return result;
  }

  Expr operand(int depth) {
    if (++parts_ > kMostGuardParts) throw Unknown();
    if (take("(")) {
      const Expr inner = sum(depth + 1);
      need(")");
      return inner;
    }
    if (take("max(")) return listed(depth, [](Expr a, Expr b) { return max(a, b); });
    if (take("min(")) return listed(depth, [](Expr a, Expr b) { return min(a, b); });
    if (text_.starts_with("L[")) return input_dim();
    if (text_.empty()) throw Unknown();
    return std::isdigit(static_cast<unsigned char>(text_[0])) != 0 ? Expr(integer()) : symbol();
  }

  template <typename F>
  Expr listed(int depth, F f) {
    Expr result = sum(depth + 1);
    while (take(",")) result = checked(f(result, sum(depth + 1)));
    need(")");
    return result;
  }

  int64_t integer() {
    take("");
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) throw Unknown();
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    return value;
  }

  Expr symbol() {
    size_t length = 0;
    while (length < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[length])) != 0 || text_[length] == '_')) {
      ++length;
    }
    const std::string name(text_.substr(0, length));
    text_.remove_prefix(length);
    // What follows makes it something else: a call, an attribute, a float.
    if (name.empty() || text_.starts_with('(') || text_.starts_with('.')) throw Unknown();
    return symbols_.variable(name);
  }

  // L['ids'].size()[1]
  Expr input_dim() {
    need("L");
    std::string input;
    while (!text_.starts_with('.')) input += (input.empty() ? "" : "_") + key();
    need(".size()[");
    const int64_t axis = integer();
    need("]");
    const auto found = dim_(input, static_cast<size_t>(axis));
    if (!found) throw Unknown();
    return *found;
  }

  // ['name'] or [3]
  std::string key() {
    const bool is_name = take("['");
    if (!is_name) need("[");
    const std::string_view closing = is_name ? "']" : "]";
    const size_t end = text_.find(closing);
    if (end == text_.npos) throw Unknown();
    std::string found(text_.substr(0, end));
    text_.remove_prefix(end + closing.size());
    return found;
  }

  std::string_view text_;
  Operator modulo_;
  const InputDim& dim_;
  const Symbols& symbols_;
  int parts_ = 0;
};

// Of k·x·(y % 4), where k and x aren't 0, the remainder: both are 0 or neither is.
Expr without_factors(Expr product) {
  if (product.kind() == ExprKind::Sum && product.operands().size() == 1 &&
      product.constant_term() == 0) {
    product = product.operands()[0];
  }
  if (product.kind() != ExprKind::Product) return product;
  Expr left = 1;
  for (Expr factor : product.operands()) {
    if (factor.lower_bound() < 1) left = left * factor;
  }
  return left;
}

bool assume_equal(Expr a, Expr b, Symbols& symbols) {
  if (a.to_int()) std::swap(a, b);
  const auto value = b.to_int();
  if (value == 0) a = without_factors(a);
  const auto modulus = a.kind() == ExprKind::Mod ? a.operands()[1].to_int() : std::nullopt;
  if (value && modulus && *value >= 0 && *value < *modulus) {
    return symbols.set_remainder(a.operands()[0], *modulus, *value);
  }
  if (symbols.set_equal(a, b)) return true;
  const bool is_new = symbols.set_at_most(a, b);
  return symbols.set_at_most(b, a) || is_new;
}

// Whether that was new.
bool assume_comparison(const Comparison& guard, Symbols& symbols) {
  const auto& [a, b, relation] = guard;
  if (relation == "==") return assume_equal(a, b, symbols);
  if (relation == "<=") return symbols.set_at_most(a, b);
  if (relation == ">=") return symbols.set_at_most(b, a);
  if (relation == "<") return symbols.set_at_most(a + 1, b);
  if (relation == ">") return symbols.set_at_most(b + 1, a);
  return false;
}

std::optional<Comparison> comparison_of(std::string_view guard, GuardReader::Operator modulo,
                                        const InputDim& dim, const Symbols& symbols) {
  try {
    return GuardReader(guard, modulo, dim, symbols).comparison();
  } catch (const Unknown&) {
  } catch (const UserError&) {  // a size that expressions can't hold
  }
  return std::nullopt;
}

bool assume_one(std::string_view guard, const InputDim& dim, Symbols& symbols) {
  // What is missing to a multiple, -s % 4, is simple in one form by itself, in the other in sums.
  constexpr GuardReader::Operator kForms[] = {[](Expr a, Expr b) { return a % b; }, remainder};
  bool is_new = false;
  for (GuardReader::Operator modulo : kForms) {
    const auto read = comparison_of(guard, modulo, dim, symbols);
    if (!read) continue;
    try {
      is_new |= assume_comparison(*read, symbols);
    } catch (const UserError& error) {
      throw UserError(fmt::format("guard {}: {}", io::quote(guard.substr(0, 200)), error.what()));
    }
  }
  return is_new;
}

}  // namespace

void assume(std::span<const std::string> guards, const InputDim& dim, Symbols& symbols) {
  // What one says may make another simple enough to be understood.
  for (int pass = 0; pass < kMostPasses; ++pass) {
    bool is_new = false;
    for (const std::string& guard : guards) {
      is_new |= assume_one(guard, dim, symbols);
    }
    if (!is_new) return;
  }
}

}  // namespace luminal::pytorch
