#include "luminal/egraph/rule_builder.h"

#include "luminal/base/check.h"
#include "luminal/egraph/language/ast.h"

#include <utility>
#include <vector>

namespace luminal::egraph {

struct RuleBuilder::Parts {
  const Schema& schema;
  std::vector<Expr> terms;
  std::vector<Fact> facts;
  std::vector<ActionSyntax> actions;

  const Expr& term(Term term) const {
    LUMINAL_CHECK(term.number < terms.size(), "a term of another rule");
    return terms[term.number];
  }
  void add_fact(std::vector<Expr> sides) {
    const SourcePosition position = sides[0].position;
    facts.push_back({.position = position, .sides = std::move(sides)});
  }
  void add_action(ActionSyntax::Kind kind, std::vector<Expr> exprs) {
    const SourcePosition position = exprs[0].position;
    actions.push_back({.kind = kind, .position = position, .name = {}, .exprs = std::move(exprs)});
  }
};

RuleBuilder::RuleBuilder(const Schema& schema)
    : parts_(new Parts{.schema = schema, .terms = {}, .facts = {}, .actions = {}}) {}
RuleBuilder::~RuleBuilder() = default;

RuleBuilder::Term RuleBuilder::add(Expr term) {
  const uint32_t number = static_cast<uint32_t>(parts_->terms.size());
  term.position = {.line = 1, .column = number + 1};
  parts_->terms.push_back(std::move(term));
  return {number};
}

RuleBuilder::Term RuleBuilder::variable() {
  return add({.kind = Expr::Kind::Variable,
              .position = {},
              .name = "v" + std::to_string(parts_->terms.size() + 1)});
}
RuleBuilder::Term RuleBuilder::constant(int64_t number) {
  return add({.kind = Expr::Kind::I64, .position = {}, .i64 = number});
}
RuleBuilder::Term RuleBuilder::constant(double number) {
  return add({.kind = Expr::Kind::F64, .position = {}, .f64 = number});
}
RuleBuilder::Term RuleBuilder::constant(std::string_view text) {
  return add({.kind = Expr::Kind::String, .position = {}, .name = std::string(text)});
}
RuleBuilder::Term RuleBuilder::constant(bool value) {
  return add({.kind = Expr::Kind::Bool, .position = {}, .boolean = value});
}

RuleBuilder::Term RuleBuilder::call(FunctionId function, Terms arguments) {
  return call(parts_->schema.function(function).name, arguments);
}

RuleBuilder::Term RuleBuilder::call(std::string_view primitive, Terms arguments) {
  Expr result{.kind = Expr::Kind::Call, .position = {}, .name = std::string(primitive)};
  for (Term argument : arguments) result.args.push_back(parts_->term(argument));
  return add(std::move(result));
}

RuleBuilder& RuleBuilder::if_there(Term call) {
  parts_->add_fact({parts_->term(call)});
  return *this;
}
RuleBuilder& RuleBuilder::if_equal(Term a, Term b) {
  parts_->add_fact({parts_->term(a), parts_->term(b)});
  return *this;
}

RuleBuilder& RuleBuilder::make(Term call) {
  parts_->add_action(ActionSyntax::Kind::Eval, {parts_->term(call)});
  return *this;
}
RuleBuilder& RuleBuilder::set(Term call, Term value) {
  parts_->add_action(ActionSyntax::Kind::Set, {parts_->term(call), parts_->term(value)});
  return *this;
}
RuleBuilder& RuleBuilder::unite(Term a, Term b) {
  parts_->add_action(ActionSyntax::Kind::Union, {parts_->term(a), parts_->term(b)});
  return *this;
}
RuleBuilder& RuleBuilder::remove(Term call) {
  parts_->add_action(ActionSyntax::Kind::Delete, {parts_->term(call)});
  return *this;
}
RuleBuilder& RuleBuilder::subsume(Term call) {
  parts_->add_action(ActionSyntax::Kind::Subsume, {parts_->term(call)});
  return *this;
}

RuleDeclaration RuleBuilder::declaration(std::string name, std::string ruleset) const {
  return {.name = std::move(name),
          .ruleset = std::move(ruleset),
          .facts = parts_->facts,
          .actions = parts_->actions};
}

}  // namespace luminal::egraph
