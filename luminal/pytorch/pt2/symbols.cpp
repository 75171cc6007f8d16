#include "luminal/pytorch/pt2/symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/io/file/quote.h"
#include "luminal/pytorch/size_arithmetic.h"
#include "luminal/shape/expr/expr_size.h"

namespace luminal::pytorch {
namespace {

constexpr int kDeepest = 200;
constexpr int kMostParts = 1000;
constexpr uint32_t kMostNodes = 5000;  // of an expression as it is simplified
constexpr int64_t kLargestPower = 16;

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
    if (take("FloorDiv(") || take("torch.utils._sympy.functions.FloorDiv(")) {
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

}  // namespace

void Symbols::set_range(const std::string& name, int64_t lower, int64_t upper) {
  ranges_[name] = {std::max<int64_t>(lower, 0), std::min(upper, Expr::kMaxVar)};
}

void Symbols::set_equal(const std::string& name, const std::string& other) {
  const std::string gone = chosen(name), kept = chosen(other);
  if (gone == kept) return;
  const auto range_of = [this](const std::string& of) {
    const auto found = ranges_.find(of);
    return found == ranges_.end() ? std::pair<int64_t, int64_t>(0, Expr::kMaxVar) : found->second;
  };
  const auto a = range_of(gone), b = range_of(kept);
  ranges_[kept] = {std::max(a.first, b.first), std::min(a.second, b.second)};
  same_[gone] = kept;
}

const std::string& Symbols::chosen(const std::string& name) const {
  const std::string* found = &name;
  for (auto next = same_.find(*found); next != same_.end(); next = same_.find(*found)) {
    found = &next->second;
  }
  return *found;
}

Expr Symbols::variable(const std::string& name) const {
  const auto range = ranges_.find(chosen(name));
  return range == ranges_.end()
             ? Expr::var(chosen(name))
             : Expr::var(range->first, range->second.first, range->second.second);
}

std::optional<std::string> Symbols::name_of_symbol(std::string_view text) {
  constexpr std::string_view kStart = "Symbol('";
  if (!text.starts_with(kStart) || text.find(')') + 1 != text.size()) return std::nullopt;
  text.remove_prefix(kStart.size());
  return std::string(text.substr(0, text.find('\'')));
}

Expr Symbols::parse(std::string_view text) const { return Reader(text, *this).all(); }

}  // namespace luminal::pytorch
