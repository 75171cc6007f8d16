// Applies a rule as written: its conditions under the bindings of a step, then its actions.
#include "luminal/egraph/proof/proof_checker_state.h"

#include <algorithm>
#include <set>

namespace luminal::egraph {

void ProofChecker::begin_premises(const ProofStep& step) {
  premises_.clear();
  for (const uint32_t fact : step.premises) {
    const auto found = facts_.find(fact);
    require(found != facts_.end(), "it rests on a fact that no earlier step states");
    premises_.push_back(found->second.step);
  }
  used_.assign(premises_.size(), false);
}

void ProofChecker::require_all_used() const {
  require(std::find(used_.begin(), used_.end(), false) == used_.end(),
          "it names a fact that it doesn't rest on");
}

Effects ProofChecker::apply_rule(const ProofStep& step) {
  const auto found = program_.rules.find(step.rule);
  if (found == program_.rules.end()) reject("there is no rule '" + step.rule + "'");
  const RuleDeclaration& rule = *found->second.syntax;
  known_globals_ = found->second.known_globals;
  begin_premises(step);
  std::set<std::string> variables;
  for (const Fact& fact : rule.facts) {
    for (const Expr& side : fact.sides) collect_variables(side, variables);
  }
  names_.clear();
  for (const ProofStep::Binding& binding : step.bindings) {
    require(variables.contains(binding.variable), "the rule has no such variable");
    require(binding.sort.index() < schema_.sorts().size(), "an unknown sort");
    require_named(binding.value, binding.sort);
    Candidates value{.list = {{.value = binding.value, .sort = binding.sort}}};
    require(names_.emplace(binding.variable, std::move(value)).second,
            "a variable stands for two terms");
  }
  require(names_.size() == variables.size(), "a variable of the rule stands for nothing");
  require(step.known_steps <= now_, "it knows steps that come later");
  time_ = step.known_steps;
  for (const Fact& fact : rule.facts) {
    if (!holds(fact)) reject("a condition of rule '" + step.rule + "' doesn't hold");
  }
  time_ = now_;
  Effects effects = act(rule);
  require_all_used();
  return effects;
}

bool ProofChecker::is_global(const std::string& name) const {
  const auto global = program_.globals.find(name);
  return global != program_.globals.end() && global->second.index < known_globals_;
}

void ProofChecker::collect_variables(const Expr& expr, std::set<std::string>& into) const {
  if (expr.kind == Expr::Kind::Variable && expr.name != "_" && !is_global(expr.name)) {
    into.insert(expr.name);
  }
  for (const Expr& argument : expr.args) collect_variables(argument, into);
}

bool ProofChecker::holds(const Fact& fact) {
  std::vector<Candidates> sides;
  for (const Expr& side : fact.sides) sides.push_back(evaluate(side, nullptr));
  if (sides.size() == 1) {
    return std::any_of(sides[0].list.begin(), sides[0].list.end(), [&](const Candidate& c) {
      return c.sort != schema_.boolean() || Constants::is_true(c.value);
    });
  }
  const auto concrete =
      std::find_if(sides.begin(), sides.end(), [](const Candidates& side) { return !side.any; });
  if (concrete == sides.end()) return true;
  return std::any_of(concrete->list.begin(), concrete->list.end(), [&](const Candidate& candidate) {
    return std::all_of(sides.begin(), sides.end(),
                       [&](const Candidates& side) { return contains(side, candidate); });
  });
}

Effects ProofChecker::act(const RuleDeclaration& rule) {
  Effects effects;
  for (const ActionSyntax& action : rule.actions) {
    switch (action.kind) {
      case ActionSyntax::Kind::Let:
        names_[action.name] = evaluate(action.exprs[0], &effects);
        break;
      case ActionSyntax::Kind::Set: {
        std::vector<Candidates> arguments = evaluate_all(action.exprs[0].args, effects);
        effects.rows.push_back({.function = called(action.exprs[0]),
                                .arguments = std::move(arguments),
                                .value = evaluate(action.exprs[1], &effects)});
        break;
      }
      case ActionSyntax::Kind::Union: {
        Candidates left = evaluate(action.exprs[0], &effects);
        effects.unions.push_back(
            {.left = std::move(left), .right = evaluate(action.exprs[1], &effects)});
        break;
      }
      case ActionSyntax::Kind::Delete:
        evaluate_all(action.exprs[0].args, effects);
        break;
      case ActionSyntax::Kind::Subsume:
      case ActionSyntax::Kind::Eval:
        evaluate(action.exprs[0], &effects);
        break;
      case ActionSyntax::Kind::Panic:
        return effects;
    }
  }
  return effects;
}

std::vector<Candidates> ProofChecker::evaluate_all(const std::vector<Expr>& exprs,
                                                   Effects& effects) {
  std::vector<Candidates> result;
  for (const Expr& expr : exprs) result.push_back(evaluate(expr, &effects));
  return result;
}

FunctionId ProofChecker::called(const Expr& expr) const {
  const auto id = schema_.find_function(expr.name);
  require(id.has_value(), "a rule sets something that is not a function");
  return *id;
}

}  // namespace luminal::egraph
