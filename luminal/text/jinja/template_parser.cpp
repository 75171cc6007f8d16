// Parses chat templates: recursive descent over Jinja's grammar, with bounded depth.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/text/jinja/template_ast.h"
#include "luminal/text/jinja/template_lexer.h"

namespace luminal::tokens {
namespace {

using TokenKind = TemplateToken::Kind;
using ExprKind = TemplateExpr::Kind;
using StatementKind = TemplateStatement::Kind;

constexpr int kMaxTemplateDepth = 100;

class Parser {
 public:
  explicit Parser(std::string_view source) : tokens_(template_tokens(source)) {}

  TemplateBody parse() { return body({}); }

 private:
  // RAII nesting counter, which bounds the stack for any template.
  struct Nested {
    explicit Nested(Parser& of) : parser(of) {
      if (++parser.depth_ > kMaxTemplateDepth)
        parser.fail(fmt::format("nested deeper than {}", kMaxTemplateDepth));
    }
    ~Nested() { --parser.depth_; }
    Parser& parser;
  };

  const TemplateToken& now() const { return tokens_[at_]; }
  const TemplateToken& ahead(size_t n) const {
    return tokens_[std::min(at_ + n, tokens_.size() - 1)];
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("chat template: line {}: {}", now().line, what));
  }
  std::string found() const {
    if (now().kind == TokenKind::End) return "the end";
    if (now().kind == TokenKind::TagClose) return "'%}'";
    if (now().kind == TokenKind::PrintClose) return "'}}'";
    return fmt::format("'{}'", now().text.substr(0, 40));
  }

  bool is(TokenKind kind, std::string_view text) const {
    return now().kind == kind && now().text == text;
  }
  bool accept(std::string_view op) {
    if (!is(TokenKind::Operator, op)) return false;
    ++at_;
    return true;
  }
  bool accept_word(std::string_view word) {
    if (!is(TokenKind::Name, word)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view op) {
    if (!accept(op)) fail(fmt::format("expected '{}' before {}", op, found()));
  }
  void expect(TokenKind kind) {
    if (now().kind != kind) fail(fmt::format("unexpected {}", found()));
    ++at_;
  }
  std::string name() {
    if (now().kind != TokenKind::Name) fail(fmt::format("expected a name before {}", found()));
    return tokens_[at_++].text;
  }

  // ---- statements

  // Parses up to a tag with one of these words, which isn't consumed; to the end if none is given.
  TemplateBody body(std::initializer_list<std::string_view> ends) {
    const Nested nested(*this);
    TemplateBody statements;
    while (now().kind != TokenKind::End) {
      const int line = now().line;
      if (now().kind == TokenKind::Text) {
        statements.push_back({.kind = StatementKind::Text, .line = line, .text = now().text});
        ++at_;
      } else if (now().kind == TokenKind::PrintOpen) {
        ++at_;
        TemplateStatement print{.kind = StatementKind::Print, .line = line};
        print.exprs.push_back(expression());
        expect(TokenKind::PrintClose);
        statements.push_back(std::move(print));
      } else {
        const TemplateToken& word = ahead(1);
        if (word.kind == TokenKind::Name &&
            std::find(ends.begin(), ends.end(), word.text) != ends.end()) {
          return statements;
        }
        ++at_;
        statements.push_back(tag(line));
      }
    }
    if (ends.size() > 0) fail(fmt::format("'{}' is missing", *(ends.end() - 1)));
    return statements;
  }

  // Consumes "{% word %}".
  void end_tag(std::string_view word) {
    ++at_;
    if (!accept_word(word)) fail(fmt::format("expected '{}' instead of {}", word, found()));
    expect(TokenKind::TagClose);
  }

  TemplateStatement tag(int line) {
    const std::string word = name();
    if (word == "if") return if_tag(line);
    if (word == "for") return for_tag(line);
    if (word == "set") return set_tag(line);
    if (word == "macro") return macro_tag(line);
    if (word == "generation") return generation_tag(line);
    if (word == "break" || word == "continue") {
      if (loops_ == 0) fail(fmt::format("'{}' outside of a loop", word));
      expect(TokenKind::TagClose);
      return {.kind = word == "break" ? StatementKind::Break : StatementKind::Continue,
              .line = line};
    }
    fail(fmt::format("the tag '{}' isn't supported here", word));
  }

  TemplateStatement if_tag(int line) {
    TemplateStatement statement{.kind = StatementKind::If, .line = line};
    while (true) {
      statement.exprs.push_back(expression());
      expect(TokenKind::TagClose);
      statement.bodies.push_back(body({"elif", "else", "endif"}));
      ++at_;
      if (accept_word("elif")) continue;
      if (accept_word("else")) {
        expect(TokenKind::TagClose);
        statement.bodies.push_back(body({"endif"}));
        ++at_;
      }
      if (!accept_word("endif")) fail("'endif' is missing");
      expect(TokenKind::TagClose);
      return statement;
    }
  }

  TemplateStatement for_tag(int line) {
    TemplateStatement statement{.kind = StatementKind::For, .line = line};
    statement.names = target_names();
    if (!accept_word("in")) fail("'in' is missing after the names of 'for'");
    statement.exprs.push_back(either());
    statement.exprs.push_back(accept_word("if") ? expression() : nullptr);
    if (is(TokenKind::Name, "recursive")) fail("a recursive loop isn't supported");
    expect(TokenKind::TagClose);
    ++loops_;
    statement.bodies.push_back(body({"else", "endfor"}));
    --loops_;
    ++at_;
    statement.bodies.emplace_back();
    if (accept_word("else")) {
      expect(TokenKind::TagClose);
      statement.bodies[1] = body({"endfor"});
      ++at_;
    }
    if (!accept_word("endfor")) fail("'endfor' is missing");
    expect(TokenKind::TagClose);
    return statement;
  }

  std::vector<std::string> target_names() {
    const bool in_brackets = accept("(");
    std::vector<std::string> names;
    do {
      names.push_back(name());
    } while (accept(","));
    if (in_brackets) expect(")");
    return names;
  }

  TemplateStatement set_tag(int line) {
    TemplateStatement statement{.kind = StatementKind::Set, .line = line};
    statement.names = target_names();
    if (accept(".")) {
      statement.on_attribute = true;
      statement.names.push_back(name());
    }
    if (now().kind == TokenKind::TagClose) {
      ++at_;
      statement.kind = StatementKind::SetBlock;
      statement.bodies.push_back(body({"endset"}));
      end_tag("endset");
      return statement;
    }
    expect("=");
    statement.exprs.push_back(tuple_expression());
    expect(TokenKind::TagClose);
    return statement;
  }

  // "a, b" is a list; Python makes a tuple of it.
  TemplateExprPtr tuple_expression() {
    TemplateExprPtr first = expression();
    if (!is(TokenKind::Operator, ",")) return first;
    TemplateExprPtr list = make(ExprKind::List);
    add_item(list, std::move(first));
    while (accept(",")) add_item(list, expression());
    return list;
  }

  TemplateStatement macro_tag(int line) {
    TemplateStatement statement{.kind = StatementKind::Macro, .line = line, .text = name()};
    expect("(");
    while (!accept(")")) {
      if (!statement.names.empty()) expect(",");
      statement.names.push_back(name());
      if (accept("=")) {
        statement.exprs.push_back(expression());
      } else if (!statement.exprs.empty()) {
        fail("a parameter without a default follows one with a default");
      }
    }
    expect(TokenKind::TagClose);
    const int outer = std::exchange(loops_, 0);
    statement.bodies.push_back(body({"endmacro"}));
    loops_ = outer;
    ++at_;
    if (!accept_word("endmacro")) fail("'endmacro' is missing");
    if (now().kind == TokenKind::Name) ++at_;
    expect(TokenKind::TagClose);
    return statement;
  }

  // Marks the model's own output, which only training needs: prints its body.
  TemplateStatement generation_tag(int line) {
    expect(TokenKind::TagClose);
    TemplateStatement statement{.kind = StatementKind::Block, .line = line};
    statement.bodies.push_back(body({"endgeneration"}));
    end_tag("endgeneration");
    return statement;
  }

  // ---- expressions, lowest precedence first

  TemplateExprPtr make(ExprKind kind) const {
    auto expr = std::make_unique<TemplateExpr>();
    expr->kind = kind;
    expr->line = now().line;
    return expr;
  }
  // Long chains are deep trees: bounding the depth here bounds every later traversal.
  void add_item(TemplateExprPtr& expr, TemplateExprPtr item) const {
    if (item) expr->depth = std::max(expr->depth, item->depth + 1);
    if (expr->depth > kMaxTemplateDepth)
      fail(fmt::format("an expression is nested deeper than {}", kMaxTemplateDepth));
    expr->items.push_back(std::move(item));
  }
  TemplateExprPtr binary(ExprKind kind, std::string op, TemplateExprPtr left,
                         TemplateExprPtr right) {
    TemplateExprPtr expr = make(kind);
    expr->text = std::move(op);
    add_item(expr, std::move(left));
    add_item(expr, std::move(right));
    return expr;
  }

  TemplateExprPtr expression() {
    const Nested nested(*this);
    TemplateExprPtr value = either();
    while (accept_word("if")) {
      TemplateExprPtr expr = make(ExprKind::Conditional);
      add_item(expr, std::move(value));
      add_item(expr, either());
      add_item(expr, accept_word("else") ? expression() : nullptr);
      value = std::move(expr);
    }
    return value;
  }

  TemplateExprPtr either() {
    TemplateExprPtr left = both();
    while (accept_word("or")) left = binary(ExprKind::Or, "or", std::move(left), both());
    return left;
  }

  TemplateExprPtr both() {
    TemplateExprPtr left = negation();
    while (accept_word("and")) left = binary(ExprKind::And, "and", std::move(left), negation());
    return left;
  }

  TemplateExprPtr negation() {
    const Nested nested(*this);
    if (!accept_word("not")) return comparison();
    TemplateExprPtr expr = make(ExprKind::Not);
    add_item(expr, negation());
    return expr;
  }

  TemplateExprPtr comparison() {
    TemplateExprPtr left = sum();
    while (true) {
      std::string op;
      if (now().kind == TokenKind::Operator) {
        for (std::string_view one : {"==", "!=", "<=", ">=", "<", ">"}) {
          if (now().text == one) op = one;
        }
      } else if (is(TokenKind::Name, "in")) {
        op = "in";
      } else if (is(TokenKind::Name, "not") && ahead(1).kind == TokenKind::Name &&
                 ahead(1).text == "in") {
        ++at_;
        op = "not in";
      }
      if (op.empty()) return left;
      ++at_;
      left = binary(ExprKind::Binary, op, std::move(left), sum());
    }
  }

  // One level of left-associative operators.
  template <size_t N, typename Next>
  TemplateExprPtr chain(const std::array<std::string_view, N>& ops, const Next& next) {
    TemplateExprPtr left = next();
    while (now().kind == TokenKind::Operator &&
           std::find(ops.begin(), ops.end(), now().text) != ops.end()) {
      const std::string op = tokens_[at_++].text;
      left = binary(ExprKind::Binary, op, std::move(left), next());
    }
    return left;
  }
  TemplateExprPtr sum() {
    return chain(std::array<std::string_view, 2>{"+", "-"}, [&] { return concatenation(); });
  }
  TemplateExprPtr concatenation() {
    return chain(std::array<std::string_view, 1>{"~"}, [&] { return product(); });
  }
  TemplateExprPtr product() {
    return chain(std::array<std::string_view, 4>{"*", "/", "//", "%"}, [&] { return power(); });
  }
  TemplateExprPtr power() {
    return chain(std::array<std::string_view, 1>{"**"}, [&] { return unary(true); });
  }

  TemplateExprPtr unary(bool with_filters) {
    const Nested nested(*this);
    TemplateExprPtr expr;
    if (accept("-")) {
      expr = make(ExprKind::Negative);
      add_item(expr, unary(false));
    } else if (accept("+")) {
      expr = unary(false);
    } else {
      expr = postfix(primary());
    }
    return with_filters ? filters(std::move(expr)) : std::move(expr);
  }

  TemplateExprPtr literal(TemplateValue value) const {
    TemplateExprPtr expr = make(ExprKind::Literal);
    expr->value = std::move(value);
    return expr;
  }

  TemplateExprPtr primary() {
    const TemplateToken token = now();
    if (token.kind == TokenKind::String) {
      std::string text;
      while (now().kind == TokenKind::String) text += tokens_[at_++].text;
      return literal(TemplateValue::of(std::move(text)));
    }
    if (token.kind == TokenKind::Integer) {
      ++at_;
      int64_t value = 0;
      std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
      return literal(TemplateValue::of(value));
    }
    if (token.kind == TokenKind::Float) {
      ++at_;
      double value = 0;
      std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
      return literal(TemplateValue::of(value));
    }
    if (token.kind == TokenKind::Name) return named_primary();
    if (accept("(")) return in_brackets();
    if (accept("[")) return list();
    if (accept("{")) return dict();
    fail(fmt::format("expected a value before {}", found()));
  }

  TemplateExprPtr named_primary() {
    const std::string word = name();
    if (word == "true" || word == "True") return literal(TemplateValue::of(true));
    if (word == "false" || word == "False") return literal(TemplateValue::of(false));
    if (word == "none" || word == "None") return literal(TemplateValue::none());
    TemplateExprPtr expr = make(ExprKind::Name);
    expr->text = word;
    return expr;
  }

  TemplateExprPtr in_brackets() {
    if (accept(")")) return make(ExprKind::List);
    TemplateExprPtr first = expression();
    if (!is(TokenKind::Operator, ",")) {
      expect(")");
      return first;
    }
    TemplateExprPtr tuple = make(ExprKind::List);
    add_item(tuple, std::move(first));
    while (accept(",")) {
      if (!is(TokenKind::Operator, ")")) add_item(tuple, expression());
    }
    expect(")");
    return tuple;
  }

  TemplateExprPtr list() {
    TemplateExprPtr expr = make(ExprKind::List);
    while (!accept("]")) {
      if (!expr->items.empty()) {
        expect(",");
        if (accept("]")) break;
      }
      add_item(expr, expression());
    }
    return expr;
  }

  TemplateExprPtr dict() {
    TemplateExprPtr expr = make(ExprKind::Dict);
    while (!accept("}")) {
      if (!expr->items.empty()) {
        expect(",");
        if (accept("}")) break;
      }
      add_item(expr, expression());
      expect(":");
      add_item(expr, expression());
    }
    return expr;
  }

  TemplateExprPtr postfix(TemplateExprPtr expr) {
    while (true) {
      if (accept(".")) {
        TemplateExprPtr attribute = make(ExprKind::Attribute);
        attribute->text = now().kind == TokenKind::Integer ? tokens_[at_++].text : name();
        add_item(attribute, std::move(expr));
        expr = std::move(attribute);
      } else if (accept("[")) {
        expr = subscript(std::move(expr));
      } else if (accept("(")) {
        expr = call(std::move(expr));
      } else {
        return expr;
      }
    }
  }

  TemplateExprPtr subscript(TemplateExprPtr of) {
    TemplateExprPtr parts[3];
    size_t n = 0;
    bool is_slice = false;
    while (true) {
      if (!is(TokenKind::Operator, ":") && !is(TokenKind::Operator, "]")) parts[n] = expression();
      if (!accept(":")) break;
      is_slice = true;
      if (++n == 3) fail("a slice has more than three parts");
    }
    expect("]");
    TemplateExprPtr expr = make(is_slice ? ExprKind::Slice : ExprKind::Item);
    add_item(expr, std::move(of));
    if (!is_slice && !parts[0]) fail("there is nothing between '[' and ']'");
    for (size_t i = 0; i < (is_slice ? 3u : 1u); ++i) add_item(expr, std::move(parts[i]));
    return expr;
  }

  void arguments(TemplateExprPtr& expr) {
    bool first = true;
    while (!accept(")")) {
      if (!first) {
        expect(",");
        if (accept(")")) return;
      }
      first = false;
      if (now().kind == TokenKind::Name && ahead(1).kind == TokenKind::Operator &&
          ahead(1).text == "=") {
        std::string key = name();
        ++at_;
        TemplateExprPtr value = expression();
        expr->depth = std::max(expr->depth, value->depth + 1);
        expr->named.emplace_back(std::move(key), std::move(value));
      } else {
        add_item(expr, expression());
      }
    }
  }

  TemplateExprPtr call(TemplateExprPtr of) {
    TemplateExprPtr expr = make(ExprKind::Call);
    add_item(expr, std::move(of));
    arguments(expr);
    return expr;
  }

  TemplateExprPtr filters(TemplateExprPtr expr) {
    while (true) {
      if (accept("|")) {
        TemplateExprPtr filter = make(ExprKind::Filter);
        filter->text = name();
        add_item(filter, std::move(expr));
        if (accept("(")) arguments(filter);
        expr = std::move(filter);
      } else if (accept_word("is")) {
        expr = test(std::move(expr));
      } else if (accept("(")) {
        expr = call(std::move(expr));
      } else {
        return expr;
      }
    }
  }

  TemplateExprPtr test(TemplateExprPtr of) {
    TemplateExprPtr expr = make(ExprKind::Test);
    expr->negated = accept_word("not");
    expr->text = name();
    add_item(expr, std::move(of));
    if (accept("(")) {
      arguments(expr);
    } else if (starts_argument()) {
      add_item(expr, postfix(primary()));
    }
    return expr;
  }

  bool starts_argument() const {
    if (now().kind == TokenKind::Name) {
      for (std::string_view word : {"else", "or", "and", "is", "if", "not", "in"}) {
        if (now().text == word) return false;
      }
      return true;
    }
    return now().kind == TokenKind::String || now().kind == TokenKind::Integer ||
           now().kind == TokenKind::Float || is(TokenKind::Operator, "[") ||
           is(TokenKind::Operator, "{");
  }

  std::vector<TemplateToken> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  int loops_ = 0;
};

}  // namespace

TemplateBody parse_template(std::string_view source) { return Parser(source).parse(); }

}  // namespace luminal::tokens
