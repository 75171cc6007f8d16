// Expressions as text, as e-graph terms and as C source.
#include "luminal/shape/expr/expr_interner.h"

#include <fmt/format.h>

#include <iterator>
#include <ostream>

namespace luminal {
namespace {

using shape::Node;
using shape::node;

// How tightly an expression binds, as written by text().
enum class Level : uint8_t { Or, And, Comparison, Sum, Product, Leaf };

bool is_one_product(const Node& n) {  // a Sum that reads as a product: x * 3
  return n.kind == ExprKind::Sum && !n.opaque && n.n_operands == 1 && n.constant == 0 &&
         n.coefficients[0] != -1;
}

Level level_of(Expr e) {
  const Node& n = node(e);
  switch (n.kind) {
    case ExprKind::Const:
      return n.constant < 0 ? Level::Sum : Level::Leaf;
    case ExprKind::Var:
    case ExprKind::Index:
    case ExprKind::CeilDiv:
    case ExprKind::Min:
    case ExprKind::Max:
      return Level::Leaf;
    case ExprKind::Sum:
      return is_one_product(n) ? Level::Product : Level::Sum;
    case ExprKind::Product:
      // An opaque node needs parentheses, so that it is parsed as one node again.
      return n.opaque ? Level::Sum : Level::Product;
    case ExprKind::FloorDiv:
    case ExprKind::Mod:
      return Level::Product;
    case ExprKind::Less:
    case ExprKind::GreaterEqual:
      return Level::Comparison;
    case ExprKind::And:
      return Level::And;
    case ExprKind::Or:
      return Level::Or;
  }
  return Level::Or;
}

class TextPrinter {
 public:
  std::string out;

  void print(Expr e, Level at_least = Level::Or) {
    if (level_of(e) >= at_least) {
      print_bare(e);
      return;
    }
    out += '(';
    print_bare(e);
    out += ')';
  }

 private:
  void print_bare(Expr e) {
    const Node& n = node(e);
    switch (n.kind) {
      case ExprKind::Const:
        add("{}", n.constant);
        return;
      case ExprKind::Var:
        out += n.name_view();
        return;
      case ExprKind::Index:
        add("i{}", n.axis);
        return;
      case ExprKind::Sum:
        if (n.opaque) {
          print_joined(n, " + ", Level::Leaf, Level::Leaf);
        } else {
          print_sum(n);
        }
        return;
      case ExprKind::Product:
        print_joined(n, " * ", n.opaque ? Level::Leaf : Level::Product, Level::Leaf);
        return;
      case ExprKind::FloorDiv:
        print_joined(n, " // ", Level::Product, Level::Leaf);
        return;
      case ExprKind::Mod:
        print_joined(n, " % ", Level::Product, Level::Leaf);
        return;
      case ExprKind::CeilDiv:
        print_call("ceildiv", n);
        return;
      case ExprKind::Min:
        print_call("min", n);
        return;
      case ExprKind::Max:
        print_call("max", n);
        return;
      case ExprKind::Less:
        print_comparison(n, " < ");
        return;
      case ExprKind::GreaterEqual:
        print_comparison(n, " >= ");
        return;
      case ExprKind::And:
        print_joined(n, " and ", Level::Comparison, Level::Comparison);
        if (n.n_operands == 1) out += " and 1";  // x ≠ 0
        return;
      case ExprKind::Or:
        print_joined(n, " or ", Level::And, Level::And);
        return;
    }
  }

  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
  }

  void print_joined(const Node& n, std::string_view separator, Level first, Level rest) {
    for (uint32_t i = 0; i < n.n_operands; ++i) {
      if (i > 0) out += separator;
      print(n.operands[i], i == 0 ? first : rest);
    }
  }

  void print_call(std::string_view name, const Node& n) {
    add("{}(", name);
    print_joined(n, ", ", Level::Or, Level::Or);
    out += ')';
  }

  // One summand k · atom; `begun` says whether the sum already has one before it.
  void print_summand(Expr atom, int64_t k, bool& begun) {
    const bool minus = k < 0 && (begun || k == -1) && k != INT64_MIN;
    if (begun) {
      out += minus ? " - " : " + ";
    } else if (minus) {
      out += '-';
    }
    const bool bare_minus = minus && !begun;
    begun = true;
    if (minus) k = -k;
    print(atom, bare_minus ? Level::Leaf : Level::Product);
    if (k != 1) add(" * {}", k);
  }

  void print_constant(int64_t c, bool& begun) {
    if (begun && c == 0) return;
    if (begun && c < 0 && c != INT64_MIN) {
      add(" - {}", -c);
    } else {
      add("{}{}", begun ? " + " : "", c);
    }
    begun = true;
  }

  void print_sum(const Node& n) {
    bool begun = false;
    for (uint32_t i = 0; i < n.n_operands; ++i) {
      print_summand(n.operands[i], n.coefficients[i], begun);
    }
    print_constant(n.constant, begun);
  }

  // i0 - s < 3 reads better as i0 < s + 3: summands with a minus go to the right.
  void print_comparison(const Node& n, std::string_view sign) {
    const Node& left = node(n.operands[0]);
    bool movable = !n.opaque && left.kind == ExprKind::Sum && !left.opaque;
    for (int64_t k : left.coefficient_span()) movable &= k != INT64_MIN;
    if (!movable) {
      print_joined(n, sign, Level::Sum, Level::Sum);
      return;
    }
    bool begun = false;
    for (uint32_t i = 0; i < left.n_operands; ++i) {
      if (left.coefficients[i] > 0) print_summand(left.operands[i], left.coefficients[i], begun);
    }
    out += sign;
    begun = false;
    for (uint32_t i = 0; i < left.n_operands; ++i) {
      if (left.coefficients[i] < 0) print_summand(left.operands[i], -left.coefficients[i], begun);
    }
    print_constant(node(n.operands[1]).constant, begun);
  }
};

std::string nested(std::string_view head, std::span<const std::string> parts) {
  std::string result = parts[0];
  for (const std::string& part : parts.subspan(1)) {
    result = fmt::format("({} {} {})", head, result, part);
  }
  return result;
}

std::string number(int64_t value) { return fmt::format("(Num {})", value); }

std::string sum_term(const Node& n) {
  std::vector<std::string> parts;
  for (uint32_t i = 0; i < n.n_operands; ++i) {
    const std::string atom = n.operands[i].term();
    const int64_t k = n.coefficients[i];
    parts.push_back(k == 1 ? atom : fmt::format("(Mul {} {})", atom, number(k)));
  }
  if (n.constant != 0) parts.push_back(number(n.constant));
  return nested("Add", parts);
}

std::string_view term_head(ExprKind kind) {
  switch (kind) {
    case ExprKind::Const:
      return "Num";
    case ExprKind::Var:
      return "Var";
    case ExprKind::Index:
      return "Index";
    case ExprKind::Sum:
      return "Add";
    case ExprKind::Product:
      return "Mul";
    case ExprKind::FloorDiv:
      return "FloorDiv";
    case ExprKind::CeilDiv:
      return "CeilDiv";
    case ExprKind::Mod:
      return "Mod";
    case ExprKind::Min:
      return "Min";
    case ExprKind::Max:
      return "Max";
    case ExprKind::Less:
      return "Lt";
    case ExprKind::GreaterEqual:
      return "Ge";
    case ExprKind::And:
      return "And";
    case ExprKind::Or:
      return "Or";
  }
  return "";
}

std::string c_number(int64_t value) {
  if (value == INT64_MIN) return "(-9223372036854775807 - 1)";
  return value < 0 ? fmt::format("({})", value) : fmt::format("{}", value);
}

std::string c_joined(const Node& n, std::string_view separator) {
  std::string result = "(";
  for (uint32_t i = 0; i < n.n_operands; ++i) {
    if (i > 0) result += separator;
    result += n.operands[i].c_source();
  }
  return result + ")";
}

std::string c_sum(const Node& n) {
  std::string result = "(";
  for (uint32_t i = 0; i < n.n_operands; ++i) {
    if (i > 0) result += " + ";
    result += n.operands[i].c_source();
    if (n.coefficients[i] != 1) result += " * " + c_number(n.coefficients[i]);
  }
  if (n.constant != 0) result += " + " + c_number(n.constant);
  return result + ")";
}

std::string c_division(const Node& n) {
  const Expr a = n.operands[0], b = n.operands[1];
  const bool plain = a.lower_bound() >= 0 && b.lower_bound() >= 1;  // x / 0 is 0 here
  const bool mod = n.kind == ExprKind::Mod;
  if (n.kind == ExprKind::CeilDiv) {
    return fmt::format("(-luminal_floordiv(-{}, {}))", a.c_source(), b.c_source());
  }
  if (plain) return c_joined(n, mod ? " % " : " / ");
  return fmt::format("{}({}, {})", mod ? "luminal_floormod" : "luminal_floordiv", a.c_source(),
                     b.c_source());
}

std::string c_extremum(const Node& n) {
  std::string result = n.operands[0].c_source();
  for (Expr operand : n.operand_span().subspan(1)) {
    const std::string other = operand.c_source();
    result = fmt::format("({0} {2} {1} ? {0} : {1})", result, other,
                         n.kind == ExprKind::Min ? "<" : ">");
  }
  return result;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, Expr e) { return out << e.text(); }

std::string Expr::text() const {
  TextPrinter printer;
  printer.print(*this);
  return std::move(printer.out);
}

std::string Expr::term() const {
  const Node& n = node(*this);
  if (n.kind == ExprKind::Const) return number(n.constant);
  if (n.kind == ExprKind::Index) return fmt::format("(Index {} {})", n.axis, n.operands[0].term());
  if (n.kind == ExprKind::Var) {
    if (n.lower == 0 && n.upper == kMaxVar) return fmt::format("(Var \"{}\")", n.name_view());
    return fmt::format("(Var \"{}\" {} {})", n.name_view(), n.lower, n.upper);
  }
  if (n.kind == ExprKind::Sum) return sum_term(n);
  std::vector<std::string> parts;
  for (Expr operand : n.operand_span()) parts.push_back(operand.term());
  if (parts.size() == 1) parts.push_back(number(1));  // a lone And
  return nested(term_head(n.kind), parts);
}

std::string Expr::c_source() const {
  const Node& n = node(*this);
  switch (n.kind) {
    case ExprKind::Const:
      return c_number(n.constant);
    case ExprKind::Var:
      return std::string(n.name_view());
    case ExprKind::Index:
      return fmt::format("i{}", n.axis);
    case ExprKind::Sum:
      return c_sum(n);
    case ExprKind::Product:
      return c_joined(n, " * ");
    case ExprKind::FloorDiv:
    case ExprKind::CeilDiv:
    case ExprKind::Mod:
      return c_division(n);
    case ExprKind::Min:
    case ExprKind::Max:
      return c_extremum(n);
    case ExprKind::Less:
      return c_joined(n, " < ");
    case ExprKind::GreaterEqual:
      return c_joined(n, " >= ");
    case ExprKind::And:
      return n.n_operands == 1 ? fmt::format("({} != 0)", n.operands[0].c_source())
                               : c_joined(n, " && ");
    case ExprKind::Or:
      return c_joined(n, " || ");
  }
  return {};
}

}  // namespace luminal
