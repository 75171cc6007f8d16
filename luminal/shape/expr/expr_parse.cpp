// Reads expressions: the infix text of Expr::text() and the terms of Expr::term().
#include "luminal/base/errors.h"
#include "luminal/shape/expr.h"
#include "luminal/shape/expr/expr_characters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <vector>

namespace luminal {
namespace {

using shape::is_digit;
using shape::is_letter;

constexpr int kMaxNesting = 200;
constexpr int kMaxChain = 300;
constexpr int kMaxFactors = 64;  // nested quotients take cubic time

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Shared by both grammars: the text, a position, and errors that name it.
class Reader {
 public:
  Reader(std::string_view text, const ParseScope& scope) : text_(text), scope_(scope) {}

 protected:
  [[noreturn]] void fail(std::string_view what) const { fail_at(position_, what); }
  [[noreturn]] void fail_at(size_t position, std::string_view what) const {
    throw UserError(fmt::format("expression: {} at position {} of '{}'", what, position,
                                text_.size() <= 200 ? text_ : text_.substr(0, 200)));
  }

  void skip_spaces() {
    while (position_ < text_.size() && is_space(text_[position_])) ++position_;
  }
  char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  bool accept(std::string_view token) {
    skip_spaces();
    if (!text_.substr(position_).starts_with(token)) return false;
    position_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("expected '{}'", token));
  }

  // A run of letters, digits and _.
  std::string_view word() {
    skip_spaces();
    const size_t start = position_;
    while (is_letter(peek()) || is_digit(peek())) ++position_;
    return text_.substr(start, position_ - start);
  }

  // Digits, with '-' in front when `negative`.
  int64_t literal(bool negative) {
    const size_t start = position_;
    while (is_digit(peek())) ++position_;
    std::string digits(text_.substr(start, position_ - start));
    if (digits.empty()) fail("expected a number");
    if (negative) digits.insert(digits.begin(), '-');
    int64_t value = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec != std::errc()) fail_at(start, "the number doesn't fit in 64 bits");
    return value;
  }

  Expr variable(std::string_view name, size_t position) const {
    for (Expr declared : scope_.variables) {
      if (declared.name() == name) return declared;
    }
    if (scope_.declared_only) fail_at(position, fmt::format("unknown variable '{}'", name));
    return Expr::var(name);
  }

  void finish() {
    skip_spaces();
    if (position_ != text_.size()) fail("unexpected text");
  }

  struct Nesting {
    explicit Nesting(Reader& reader) : reader_(reader) {
      if (++reader_.depth_ > kMaxNesting) {
        reader_.fail(fmt::format("more than {} levels of nesting", kMaxNesting));
      }
    }
    ~Nesting() { --reader_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    Reader& reader_;
  };

  std::string_view text_;
  const ParseScope& scope_;
  size_t position_ = 0;
  int depth_ = 0;
};

// Precedence: or < and < comparisons < + - < * // % < unary minus
class InfixReader : public Reader {
 public:
  using Reader::Reader;

  Expr read() {
    const Expr e = disjunction();
    finish();
    return e;
  }

 private:
  bool accept_word(std::string_view wanted) {
    skip_spaces();
    const size_t start = position_;
    if (word() == wanted) return true;
    position_ = start;
    return false;
  }

  Expr disjunction() {
    const Nesting nesting(*this);
    std::vector<Expr> operands = {conjunction()};
    while (accept_word("or")) operands.push_back(conjunction());
    return balanced(operands, [](Expr a, Expr b) { return a || b; });
  }

  Expr conjunction() {
    std::vector<Expr> operands = {comparison()};
    while (accept_word("and")) operands.push_back(comparison());
    return balanced(operands, [](Expr a, Expr b) { return a && b; });
  }

  // Combines as a balanced tree: from left to right, a chain of n operands would make n
  // intermediate expressions of up to n operands.
  template <typename F>
  static Expr balanced(std::span<const Expr> operands, F combine) {
    if (operands.size() == 1) return operands[0];
    const size_t half = operands.size() / 2;
    const Expr first = balanced(operands.first(half), combine);
    return combine(first, balanced(operands.subspan(half), combine));
  }

  // Chains of other operators are built from left to right, so their length is limited.
  void count_link(int& links, int most = kMaxChain) const {
    if (++links > most) fail(fmt::format("more than {} operands in a row", most));
  }

  Expr comparison() {
    const Expr a = sum();
    if (accept("<=")) return sum() >= a;
    if (accept(">=")) return a >= sum();
    if (accept("<")) return a < sum();
    if (accept(">")) return sum() < a;
    return a;
  }

  Expr sum() {
    Expr e = product();
    for (int links = 0;; count_link(links)) {
      if (accept("+")) {
        e = e + product();
      } else if (accept("-")) {
        e = e - product();
      } else {
        return e;
      }
    }
  }

  Expr product() {
    Expr e = unary();
    for (int links = 0;; count_link(links, kMaxFactors)) {
      if (accept("*")) {
        e = e * unary();
      } else if (accept("//")) {
        e = e / unary();
      } else if (accept("%")) {
        e = e % unary();
      } else {
        return e;
      }
    }
  }

  Expr unary() {
    if (!accept("-")) return leaf();
    const Nesting nesting(*this);
    skip_spaces();
    if (is_digit(peek())) return literal(true);
    return -unary();
  }

  Expr leaf() {
    skip_spaces();
    if (accept("(")) {
      const Expr e = disjunction();
      expect(")");
      return e;
    }
    if (is_digit(peek())) return literal(false);
    const size_t start = position_;
    if (!is_letter(peek())) {
      fail(position_ < text_.size() ? "expected a number, a name or '('" : "unexpected end");
    }
    const std::string_view name = word();
    if (name == "min") return call([](Expr a, Expr b) { return luminal::min(a, b); }, false);
    if (name == "max") return call([](Expr a, Expr b) { return luminal::max(a, b); }, false);
    if (name == "ceildiv") return call([](Expr a, Expr b) { return ceil_div(a, b); }, true);
    if (name == "and" || name == "or") fail_at(start, fmt::format("unexpected '{}'", name));
    if (name.size() > 1 && name[0] == 'i' && std::ranges::all_of(name.substr(1), is_digit)) {
      return index(name, start);
    }
    return variable(name, start);
  }

  Expr index(std::string_view name, size_t start) const {
    int axis = 0;
    const auto result = std::from_chars(name.data() + 1, name.data() + name.size(), axis);
    if (result.ec != std::errc() || static_cast<size_t>(axis) >= scope_.extents.size()) {
      fail_at(start, fmt::format("index {} has no extent in scope", name));
    }
    return Expr::index(axis, scope_.extents[static_cast<size_t>(axis)]);
  }

  template <typename F>
  Expr call(F combine, bool exactly_two) {
    expect("(");
    Expr e = disjunction();
    expect(",");
    e = combine(e, disjunction());
    for (int links = 0; !exactly_two && accept(","); count_link(links)) {
      e = combine(e, disjunction());
    }
    expect(")");
    return e;
  }
};

class TermReader : public Reader {
 public:
  using Reader::Reader;

  Expr read() {
    const Expr e = term();
    finish();
    return e;
  }

 private:
  int64_t number() {
    const bool negative = accept("-");
    skip_spaces();
    return literal(negative);
  }

  Expr term() {
    const Nesting nesting(*this);
    expect("(");
    skip_spaces();
    const size_t start = position_;
    const std::string_view head = word();
    const Expr e = body(head, start);
    expect(")");
    return e;
  }

  Expr body(std::string_view head, size_t start) {
    if (head == "Num") return number();
    if (head == "Var") return named();
    if (head == "Index") {
      skip_spaces();
      const size_t at = position_;
      const int64_t axis = number();
      if (axis < 0 || axis > INT32_MAX) fail_at(at, "the axis is out of range");
      return Expr::index(static_cast<int>(axis), term());
    }
    struct Operation {
      std::string_view name;
      Expr (*combine)(Expr, Expr);
    };
    static constexpr Operation kOperations[] = {
        {"Add", [](Expr a, Expr b) { return a + b; }},
        {"Mul", [](Expr a, Expr b) { return a * b; }},
        {"FloorDiv", [](Expr a, Expr b) { return a / b; }},
        {"CeilDiv", [](Expr a, Expr b) { return ceil_div(a, b); }},
        {"Mod", [](Expr a, Expr b) { return a % b; }},
        {"Min", [](Expr a, Expr b) { return luminal::min(a, b); }},
        {"Max", [](Expr a, Expr b) { return luminal::max(a, b); }},
        {"Lt", [](Expr a, Expr b) { return a < b; }},
        {"Ge", [](Expr a, Expr b) { return a >= b; }},
        {"And", [](Expr a, Expr b) { return a && b; }},
        {"Or", [](Expr a, Expr b) { return a || b; }},
    };
    for (const Operation& operation : kOperations) {
      if (operation.name != head) continue;
      const Expr a = term();
      return operation.combine(a, term());
    }
    fail_at(start, fmt::format("unknown operation '{}'", head));
  }

  // (Var "s") or (Var "s" lower upper)
  Expr named() {
    expect("\"");
    const size_t start = position_;
    const std::string_view name = word();
    expect("\"");
    skip_spaces();
    if (peek() == ')') return variable(name, start);
    const int64_t lower = number();
    skip_spaces();
    const int64_t upper = number();
    if (lower > upper) fail_at(start, fmt::format("the bounds of '{}' are an empty range", name));
    return Expr::var(name, lower, upper);
  }
};

}  // namespace

Expr parse_expr(std::string_view text, const ParseScope& scope) {
  return InfixReader(text, scope).read();
}

Expr parse_expr_term(std::string_view text, const ParseScope& scope) {
  return TermReader(text, scope).read();
}

}  // namespace luminal
