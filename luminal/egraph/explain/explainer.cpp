// Works off what an equality requires and writes it as steps, in the order in which they happened.
#include "luminal/egraph/explain/explainer.h"

#include "luminal/base/check.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace luminal::egraph {

Explanation Explainer::explain(Value a, Value b, SortId sort) {
  const Value from = known(a), to = known(b);
  result_ = {.left = a, .right = b, .sort = sort, .terms = {}, .steps = {}, .chain = {}};
  const std::vector<UnionForest::Edge> path = forest_.path(from.value, to.value);
  for (const UnionForest::Edge& edge : path) need_union(edge.number);
  need_term(a);
  need_term(b);
  work();
  write_steps();
  if (from != a) result_.chain.push_back({.step = asked_step(a), .reversed = false});
  for (const UnionForest::Edge& edge : path) {
    result_.chain.push_back({.step = union_steps_.at(edge.number), .reversed = edge.reversed});
  }
  if (to != b) result_.chain.push_back({.step = asked_step(b), .reversed = true});
  return std::move(result_);
}

uint32_t Explainer::asked_step(Value id) const {
  const size_t number = id.index() - database_.ids().size();
  return static_cast<uint32_t>(result_.steps.size() - asked_.size() + number);
}

void Explainer::work() {
  for (;;) {
    if (!open_facts_.empty()) {
      const uint32_t fact = open_facts_.back();
      open_facts_.pop_back();
      explain_fact(fact);
    } else if (!open_unions_.empty()) {
      const uint32_t number = open_unions_.back();
      open_unions_.pop_back();
      explain_union(number);
    } else if (!open_terms_.empty()) {
      const uint32_t fact = log_.definition(open_terms_.back());
      open_terms_.pop_back();
      const Function& function = function_of(fact);
      for (size_t i = 0; i < function.inputs.size(); ++i) {
        need_terms(arguments(fact)[i], function.inputs[i]);
      }
    } else {
      return;
    }
  }
}

void Explainer::explain_fact(uint32_t number) {
  const ProofLog::Fact& fact = log_.fact(number);
  const Function& function = function_of(number);
  ProofStep step{.kind = ProofStep::Kind::Fact,
                 .fact = number,
                 .function = FunctionId{fact.function},
                 .arguments = {arguments(number).begin(), arguments(number).end()},
                 .value = value(number)};
  for (size_t i = 0; i <= function.inputs.size(); ++i) {
    need_terms(i < function.inputs.size() ? step.arguments[i] : step.value,
               column_sort(function, i));
  }
  if (fact.cause != ProofLog::kCommandCause) {
    const Application application = apply(fact.cause, fact.unions, step);
    explain_effect(application, number, fact.unions, step);
  }
  steps_.push_back({.unions = fact.unions, .is_union = false, .number = number, .step = step});
}

void Explainer::explain_union(uint32_t number) {
  const ProofLog::Union& entry = log_.unions()[number];
  ProofStep step{.left = Value{entry.a}, .right = Value{entry.b}};
  need_term(step.left);
  need_term(step.right);
  if (entry.cause == ProofLog::kCongruence) {
    const uint32_t a = log_.definition(step.left), b = log_.definition(step.right);
    const Function& function = function_of(a);
    for (size_t i = 0; i < function.inputs.size(); ++i) {
      need_equal(arguments(a)[i], arguments(b)[i], function.inputs[i], number);
    }
    step.kind = ProofStep::Kind::Congruence;
    step.cause = ProofStep::Cause::Law;
    step.function = FunctionId{log_.fact(a).function};
  } else if (entry.cause != ProofLog::kCommandCause) {
    const Application application = apply(entry.cause, number, step);
    const Program& program = *application.program;
    const SortId sort = database_.sort_of(step.left);
    const auto does = [&](const Instruction& i) {
      return i.op == Instruction::Op::Union &&
             may_be(application, i.inputs[0], step.left, sort, number) &&
             may_be(application, i.inputs[1], step.right, sort, number);
    };
    const auto found = std::find_if(program.code.begin(), program.code.end(), does);
    if (found == program.code.end()) refuse_primitives(application, step);
    LUMINAL_CHECK(found != program.code.end(), "no action of the rule made this union");
    need_value(application, found->inputs[0], step.left, sort, number, step);
    need_value(application, found->inputs[1], step.right, sort, number, step);
  }
  steps_.push_back({.unions = number, .is_union = true, .number = number, .step = step});
}

void Explainer::write_steps() {
  std::sort(steps_.begin(), steps_.end(), [](const Timed& a, const Timed& b) {
    return std::tie(a.unions, a.is_union, a.number) < std::tie(b.unions, b.is_union, b.number);
  });
  for (Timed& timed : steps_) {
    if (timed.is_union) {
      union_steps_[timed.number] = static_cast<uint32_t>(result_.steps.size());
    }
    if (timed.step.cause == ProofStep::Cause::Rule) {
      const auto later = union_steps_.lower_bound(timed.step.known_steps);
      const bool any = later != union_steps_.end() && later->second < result_.steps.size();
      timed.step.known_steps = any ? later->second : static_cast<uint32_t>(result_.steps.size());
    }
    result_.steps.push_back(std::move(timed.step));
  }
  for (const uint32_t id : terms_) {
    const uint32_t fact = log_.definition(Value{id});
    result_.terms.push_back({.id = Value{id},
                             .function = FunctionId{log_.fact(fact).function},
                             .arguments = {arguments(fact).begin(), arguments(fact).end()}});
  }
  for (const Asked& asked : asked_) {
    result_.terms.push_back(asked.term);
    result_.steps.push_back({.kind = ProofStep::Kind::Congruence,
                             .cause = ProofStep::Cause::Law,
                             .function = asked.term.function,
                             .left = asked.term.id,
                             .right = value(asked.fact)});
  }
}

}  // namespace luminal::egraph
