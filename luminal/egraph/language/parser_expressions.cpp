// Expressions, facts and actions.
#include "luminal/egraph/language/form_parser.h"

#include <charconv>
#include <limits>
#include <utility>

namespace luminal::egraph {

Expr FormParser::expr(const Sexpr& form) const {
  Expr result{.position = form.position};
  if (form.is_string()) {
    result.kind = Expr::Kind::String;
    result.name = form.text;
  } else if (form.is_list()) {
    if (form.items.empty()) return result;  // unit
    result.kind = Expr::Kind::Call;
    result.name = symbol(form.items[0], "the name of a function or primitive");
    for (size_t i = 1; i < form.items.size(); ++i) result.args.push_back(expr(form.items[i]));
  } else {
    atom(form, result);
  }
  return result;
}

// An atom is a number if it starts with a digit, optionally after a sign or a point.
bool FormParser::number_atom(const Sexpr& form, Expr& result) const {
  const std::string& text = form.text;
  const size_t sign = text[0] == '-' || text[0] == '+' ? 1 : 0;
  const size_t digit = sign < text.size() && text[sign] == '.' ? sign + 1 : sign;
  if (digit == text.size() || text[digit] < '0' || text[digit] > '9') return false;
  const char* begin = text.data() + (text[0] == '+' ? 1 : 0);
  const char* end = text.data() + text.size();
  if (const auto [rest, error] = std::from_chars(begin, end, result.i64); rest == end) {
    if (error != std::errc()) {
      fail(form, text + " doesn't fit 64 bits; write a float, " + text + ".0, or (from-string \"" +
                     text + "\") for a BigInt");
    }
    result.kind = Expr::Kind::I64;
    return true;
  }
  const auto [rest, error] = std::from_chars(begin, end, result.f64);
  if (rest != end || error != std::errc()) {
    fail(form, "'" + text + "' is not a number; names don't start with a digit");
  }
  result.kind = Expr::Kind::F64;
  return true;
}

void FormParser::atom(const Sexpr& form, Expr& result) const {
  const std::string& text = form.text;
  if (text == "true" || text == "false") {
    result.kind = Expr::Kind::Bool;
    result.boolean = text == "true";
    return;
  }
  if (text == "NaN" || text == "inf" || text == "-inf") {
    result.kind = Expr::Kind::F64;
    result.f64 = text == "NaN" ? std::numeric_limits<double>::quiet_NaN()
                               : std::numeric_limits<double>::infinity();
    if (text[0] == '-') result.f64 = -result.f64;
    return;
  }
  if (number_atom(form, result)) return;
  if (is_option(form)) fail(form, "option '" + text + "' where a value was expected");
  result.kind = Expr::Kind::Variable;
  result.name = text;
}

Fact FormParser::fact(const Sexpr& form) const {
  Fact result{.position = form.position, .sides = {}};
  if (!form.is_call("=")) {
    result.sides.push_back(expr(form));
    if (result.sides[0].kind != Expr::Kind::Call) {
      fail(form, "a fact is a call or (= a b), found " + print(form));
    }
    return result;
  }
  if (form.items.size() < 3) fail(form, "'=' compares two or more, as in (= a (f b))");
  for (size_t i = 1; i < form.items.size(); ++i) result.sides.push_back(expr(form.items[i]));
  return result;
}

std::vector<Fact> FormParser::facts(Items forms) const {
  std::vector<Fact> result;
  for (const Sexpr& form : forms) result.push_back(fact(form));
  return result;
}

Expr FormParser::call(const Sexpr& form, const char* what) const {
  Expr result = expr(form);
  if (result.kind != Expr::Kind::Call) {
    fail(form, std::string(what) + " needs a call such as (f x), found " + print(form));
  }
  return result;
}

ActionSyntax FormParser::action(const Sexpr& form) const {
  using Kind = ActionSyntax::Kind;
  ActionSyntax result{.position = form.position};
  const auto want = [&](size_t count, const char* shape) {
    if (form.items.size() != count) fail(form, std::string("expected ") + shape);
  };
  if (form.is_call("let")) {
    want(3, "(let name value)");
    result.kind = Kind::Let;
    result.name = symbol(form.items[1], "a name");
    result.exprs.push_back(expr(form.items[2]));
  } else if (form.is_call("set")) {
    want(3, "(set (function arguments …) value)");
    result.kind = Kind::Set;
    result.exprs.push_back(call(form.items[1], "set"));
    result.exprs.push_back(expr(form.items[2]));
  } else if (form.is_call("union")) {
    want(3, "(union a b)");
    result.kind = Kind::Union;
    result.exprs.push_back(expr(form.items[1]));
    result.exprs.push_back(expr(form.items[2]));
  } else if (form.is_call("delete")) {
    want(2, "(delete (function arguments …))");
    result.kind = Kind::Delete;
    result.exprs.push_back(call(form.items[1], "delete"));
  } else if (form.is_call("subsume")) {
    want(2, "(subsume (constructor arguments …))");
    result.kind = Kind::Subsume;
    result.exprs.push_back(call(form.items[1], "subsume"));
  } else if (form.is_call("panic")) {
    want(2, "(panic \"message\")");
    result.kind = Kind::Panic;
    result.name = string(form.items[1], "a message");
  } else {
    result.exprs.push_back(expr(form));
  }
  return result;
}

}  // namespace luminal::egraph
