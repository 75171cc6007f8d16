// Checks each step of an explanation, and its chain, against what is known by then.
#include "luminal/egraph/proof/proof_checker_state.h"

#include "luminal/base/errors.h"

#include <algorithm>

namespace luminal::egraph {

ProofVerdict ProofChecker::run() {
  std::string place = "the names of terms";
  try {
    for (const ProofTerm& term : explanation_.terms) take(term);
    for (size_t number = 1; const ProofStep& step : explanation_.steps) {
      place = "step " + std::to_string(number);
      now_ = static_cast<uint32_t>(number++ - 1);
      time_ = now_;
      check_step(step);
    }
    place = "the chain";
    time_ = static_cast<uint32_t>(explanation_.steps.size());
    check_chain();
  } catch (const Rejected& rejected) {
    return {.why = place + ": " + rejected.why};
  } catch (const InternalError& error) {  // a value that no constant has
    return {.why = place + ": " + error.what()};
  }
  return {.accepted = true};
}

void ProofChecker::check_step(const ProofStep& step) {
  switch (step.kind) {
    case ProofStep::Kind::Fact:
      check_shape(step);
      check_fact(step);
      require(facts_.emplace(step.fact, Stated{&step, now_}).second,
              "this fact was stated already");
      return;
    case ProofStep::Kind::Union:
      check_union(step);
      return unite(step.left, step.right);
    case ProofStep::Kind::Congruence:
      check_congruence(step);
      return unite(step.left, step.right);
  }
}

void ProofChecker::check_shape(const ProofStep& step) const {
  require(step.function.index() < schema_.functions().size(), "an unknown function");
  const Function& function = schema_.function(step.function);
  require(step.arguments.size() == function.inputs.size(), "a wrong number of arguments");
  for (size_t i = 0; i < step.arguments.size(); ++i) {
    require_named(step.arguments[i], function.inputs[i]);
  }
  require_named(step.value, function.output);
  if (function.kind == FunctionKind::Relation) {
    require(step.value == Constants::unit(), "a relation has no value");
  } else if (function.kind == FunctionKind::Constructor) {
    const ProofTerm& made = term(step.value);
    require(made.function == step.function && made.arguments == step.arguments,
            "this id stands for another term");
  }
}

void ProofChecker::check_fact(const ProofStep& step) {
  switch (step.cause) {
    case ProofStep::Cause::Command:
      return require(program_.is_axiom(step), "no command states this fact");
    case ProofStep::Cause::Rule:
      return require(makes(apply_rule(step), step), "no action of the rule makes this fact");
    case ProofStep::Cause::Merge:
      return check_merge(step);
    case ProofStep::Cause::Law:
      break;
  }
  reject("no law makes facts");
}

void ProofChecker::check_union(const ProofStep& step) {
  if (step.cause == ProofStep::Cause::Command) {
    return require(program_.is_axiom(step), "no command makes these terms equal");
  }
  require(step.cause == ProofStep::Cause::Rule, "only commands and rules make terms equal");
  const SortId sort = schema_.function(term(step.left).function).output;
  const Effects effects = apply_rule(step);
  for (const Effects::Union& one : effects.unions) {
    if (contains(one.left, step.left, sort) && contains(one.right, step.right, sort)) return;
  }
  reject("no action of the rule makes these terms equal");
}

void ProofChecker::check_congruence(const ProofStep& step) const {
  require(step.cause == ProofStep::Cause::Law, "congruence has no other cause");
  const ProofTerm& left = term(step.left);
  const ProofTerm& right = term(step.right);
  require(left.function == step.function && right.function == step.function,
          "the two terms aren't of this function");
  require(same_values(left.arguments, right.arguments, schema_.function(step.function)),
          "the arguments of the two terms aren't equal yet");
}

bool ProofChecker::makes(const Effects& effects, const ProofStep& step) const {
  const Function& function = schema_.function(step.function);
  return std::any_of(effects.rows.begin(), effects.rows.end(), [&](const Effects::Row& row) {
    if (row.function != step.function || !fit(row.arguments, step.arguments, function)) {
      return false;
    }
    return !row.value || contains(*row.value, step.value, function.output);
  });
}

void ProofChecker::check_merge(const ProofStep& step) {
  begin_premises(step);
  require(step.premises.size() >= 2, "a merge is of two facts");
  const ProofStep& old_fact = *premises_[0];
  const ProofStep& new_fact = *premises_[1];
  require(old_fact.function == new_fact.function, "a merge is of two facts of one function");
  const Function& function = schema_.function(old_fact.function);
  require(same_values(old_fact.arguments, new_fact.arguments, function),
          "the arguments of the merged facts aren't equal yet");
  const auto merge = program_.merges.find(old_fact.function.value);
  require(merge != program_.merges.end(), "this function has no merge");
  used_[0] = used_[1] = true;
  names_.clear();
  names_["old"].list = {{.value = old_fact.value, .sort = function.output}};
  names_["new"].list = {{.value = new_fact.value, .sort = function.output}};
  known_globals_ = program_.globals.size();
  Effects effects;
  const Candidates result = evaluate(*merge->second, &effects);
  if (step.function != old_fact.function) {
    require(makes(effects, step), "the merge doesn't make this fact");
  } else {
    require(step.arguments == old_fact.arguments, "a merge keeps the arguments of the old fact");
    require(contains(result, step.value, function.output), "the merge gives another value");
  }
  require_all_used();
}

void ProofChecker::check_chain() const {
  require(ids_.contains(explanation_.left.value) && ids_.contains(explanation_.right.value),
          "an unnamed id");
  Value at = explanation_.left;
  for (const ProofLink& link : explanation_.chain) {
    require(link.step < explanation_.steps.size(), "an unknown step");
    const ProofStep& step = explanation_.steps[link.step];
    require(step.kind != ProofStep::Kind::Fact, "a fact is no equality");
    require((link.reversed ? step.right : step.left) == at, "a link starts elsewhere");
    at = link.reversed ? step.left : step.right;
  }
  require(at == explanation_.right, "it ends at another term");
  require(root(explanation_.left) == root(explanation_.right), "the two terms aren't equal");
}

ProofVerdict check(const ProofProgram& program, const Explanation& explanation) {
  return ProofChecker(program, explanation).run();
}

}  // namespace luminal::egraph
