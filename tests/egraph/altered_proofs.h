// Explanations altered in one place, each of which a checker must reject.
#pragma once

#include "luminal/base/errors.h"
#include "luminal/egraph/egraph.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace luminal::egraph {

struct MutationCounts {
  size_t explanations = 0, steps = 0, refused = 0, altered = 0, rejected = 0;
  size_t also_right = 0;  // with another rule that does the same at that place
  std::string failure;    // the first right explanation that was rejected, or wrong one accepted
};

// Calls `visit` with what was altered and the result. What is put in a place is never equal to what
// was there, by the steps of the explanation, so that no alteration leaves a right proof; but for
// another rule, which may do the same by chance.
class ProofAlterer {
 public:
  using Visit = std::function<void(const std::string&, const Explanation&, bool other_rule)>;

  ProofAlterer(const EGraph& egraph, const Explanation& explanation, Visit visit)
      : egraph_(egraph), original_(explanation), visit_(std::move(visit)) {
    for (const ProofTerm& term : explanation.terms) {
      parents_[term.id.value] = term.id.value;
      take_values(term.function, term.arguments);
    }
    for (const ProofStep& step : explanation.steps) {
      if (step.kind != ProofStep::Kind::Fact) {
        parents_[root(step.left.value)] = root(step.right.value);
      }
    }
  }

  void run() {
    for (size_t i = 0; i < original_.steps.size(); ++i) alter_step(i);
    for (size_t i = 0; i < original_.chain.size(); ++i) alter_link(i);
    for (size_t i = 0; i < original_.terms.size(); ++i) alter_term(i);
  }

 private:
  uint32_t root(uint32_t id) const {
    while (parents_.at(id) != id) id = parents_.at(id);
    return id;
  }
  bool equal(Value a, Value b, SortId sort) const {
    return egraph_.schema().is_equality(sort) ? root(a.value) == root(b.value) : a == b;
  }
  void take_values(FunctionId function, const std::vector<Value>& arguments) {
    const Function& declared = egraph_.schema().function(function);
    for (size_t i = 0; i < arguments.size(); ++i) {
      values_[declared.inputs[i].value].push_back(arguments[i]);
    }
  }

  void show(const std::string& what, const Explanation& altered) { visit_(what, altered, false); }
  void with(size_t step, const std::string& what, const std::function<void(ProofStep&)>& change) {
    Explanation altered = original_;
    change(altered.steps[step]);
    show("step " + std::to_string(step + 1) + ": " + what, altered);
  }

  // Another value of a sort, if the explanation has one that isn't equal.
  Value other(Value value, SortId sort) const {
    if (egraph_.schema().is_equality(sort)) {
      for (const ProofTerm& term : original_.terms) {
        const bool fits = egraph_.schema().function(term.function).output == sort;
        if (fits && !equal(term.id, value, sort)) return term.id;
      }
    } else if (egraph_.schema().sort(sort).kind != SortKind::Container) {
      const auto found = values_.find(sort.value);
      if (found == values_.end()) return {};
      for (const Value candidate : found->second) {
        if (candidate != value) return candidate;
      }
    }
    return {};
  }

  FunctionId other(FunctionId function) const {
    const auto& functions = egraph_.schema().functions();
    for (uint32_t f = 0; f < functions.size(); ++f) {
      if (FunctionId{f} != function &&
          functions[f].inputs.size() == egraph_.schema().function(function).inputs.size()) {
        return FunctionId{f};
      }
    }
    return FunctionId{static_cast<uint32_t>(functions.size())};
  }

  void alter_step(size_t i) {
    const ProofStep& step = original_.steps[i];
    drop_or_move(i);
    if (step.cause == ProofStep::Cause::Rule) alter_application(i, step);
    alter_premises(i, step);
    if (step.cause != ProofStep::Cause::Command) {
      with(i, "as an axiom", [](ProofStep& s) { s.cause = ProofStep::Cause::Command; });
    }
    if (step.kind == ProofStep::Kind::Fact) return alter_fact(i, step);
    if (step.kind == ProofStep::Kind::Union) {  // congruence reads both ways
      with(i, "sides swapped", [](ProofStep& s) { std::swap(s.left, s.right); });
    }
    const SortId sort = sort_of(step.left);
    if (const Value id = other(step.left, sort); id.valid()) {
      with(i, "another left side", [&](ProofStep& s) { s.left = id; });
      with(i, "another right side", [&](ProofStep& s) { s.right = id; });
    }
    if (step.kind == ProofStep::Kind::Congruence) {
      with(i, "another function", [&](ProofStep& s) { s.function = other(s.function); });
      with(i, "as a union", [](ProofStep& s) {
        s.kind = ProofStep::Kind::Union;
        s.cause = ProofStep::Cause::Command;
      });
    } else {
      with(i, "as congruence", [&](ProofStep& s) {
        s.kind = ProofStep::Kind::Congruence;
        s.function = function_of(s.left);
      });
    }
  }

  FunctionId function_of(Value id) const {
    for (const ProofTerm& term : original_.terms) {
      if (term.id == id) return term.function;
    }
    return {};
  }
  SortId sort_of(Value id) const { return egraph_.schema().function(function_of(id)).output; }

  void drop_or_move(size_t i) {
    Explanation altered = original_;
    const ProofStep step = altered.steps[i];
    altered.steps.erase(altered.steps.begin() + static_cast<ptrdiff_t>(i));
    // The chain goes on naming the steps that it named.
    for (ProofLink& link : altered.chain) {
      if (link.step > i) --link.step;
    }
    // Two sets may be shown equal in two ways, so that one equality of their items may go.
    const bool may_go = has_sets() && step.kind != ProofStep::Kind::Fact;
    if (!may_go) show("step " + std::to_string(i + 1) + " dropped", altered);
    if (may_go) return;
    if (i + 1 == original_.steps.size() || !is_relied_on(i)) return;
    altered.steps.push_back(step);
    for (size_t l = 0; l < altered.chain.size(); ++l) {
      if (original_.chain[l].step != i) continue;
      altered.chain[l].step = static_cast<uint32_t>(altered.steps.size() - 1);
    }
    show("step " + std::to_string(i + 1) + " moved to the end", altered);
  }

  bool has_sets() const {
    const Constants& constants = egraph_.constants();
    for (const auto& [sort, values] : values_) {
      const bool is_container = constants.containers.is_container(SortId{sort});
      if (is_container && constants.containers.shape(SortId{sort}).kind != ContainerKind::Vec) {
        return true;
      }
    }
    return false;
  }

  // By a later step; else it is only part of the chain and may come as late as it likes.
  bool is_relied_on(size_t i) const {
    if (original_.steps[i].kind == ProofStep::Kind::Fact) return true;
    for (const ProofLink& link : original_.chain) {
      if (link.step == i) return false;
    }
    return true;
  }

  void alter_application(size_t i, const ProofStep& step) {
    for (uint32_t r = 1; r <= egraph_.rules(); ++r) {
      const std::string& name = egraph_.rule_name(RuleId{r});
      if (name == step.rule) continue;
      Explanation altered = original_;
      altered.steps[i].rule = name;
      visit_("step " + std::to_string(i + 1) + ": rule '" + name + "'", altered, true);
      break;
    }
    with(i, "no rule", [](ProofStep& s) { s.rule += "?"; });
    with(i, "knowing what comes later",
         [&](ProofStep& s) { s.known_steps = static_cast<uint32_t>(original_.steps.size() + 1); });
    if (!step.premises.empty()) {
      with(i, "knowing nothing", [](ProofStep& s) { s.known_steps = 0; });
    }
    for (size_t b = 0; b < step.bindings.size(); ++b) {
      const std::string& name = step.bindings[b].variable;
      with(i, name + " unbound",
           [&](ProofStep& s) { s.bindings.erase(s.bindings.begin() + static_cast<ptrdiff_t>(b)); });
      const Value value = other(step.bindings[b].value, step.bindings[b].sort);
      if (!value.valid()) continue;
      with(i, name + " bound to another value", [&](ProofStep& s) { s.bindings[b].value = value; });
    }
  }

  void alter_premises(size_t i, const ProofStep& step) {
    for (size_t p = 0; p < step.premises.size(); ++p) {
      with(i, "a premise dropped",
           [&](ProofStep& s) { s.premises.erase(s.premises.begin() + static_cast<ptrdiff_t>(p)); });
      const ProofStep* cited = fact(step.premises[p]);
      for (const ProofStep& candidate : original_.steps) {
        if (candidate.kind != ProofStep::Kind::Fact || same_fact(candidate, *cited)) continue;
        with(i, "another premise", [&](ProofStep& s) { s.premises[p] = candidate.fact; });
        break;
      }
    }
  }
  // One of two premises that are equal is enough.
  bool has_twin(const ProofStep& step, size_t premise) const {
    for (const uint32_t other : step.premises) {
      if (other != step.premises[premise] &&
          same_fact(*fact(other), *fact(step.premises[premise]))) {
        return true;
      }
    }
    return false;
  }
  const ProofStep* fact(uint32_t number) const {
    for (const ProofStep& step : original_.steps) {
      if (step.kind == ProofStep::Kind::Fact && step.fact == number) return &step;
    }
    return nullptr;
  }
  bool same_fact(const ProofStep& a, const ProofStep& b) const {
    if (a.function != b.function) return false;
    const Function& function = egraph_.schema().function(a.function);
    for (size_t i = 0; i < a.arguments.size(); ++i) {
      if (!equal(a.arguments[i], b.arguments[i], function.inputs[i])) return false;
    }
    return equal(a.value, b.value, function.output);
  }

  void alter_fact(size_t i, const ProofStep& step) {
    const Function& function = egraph_.schema().function(step.function);
    with(i, "another function", [&](ProofStep& s) { s.function = other(s.function); });
    with(i, "another number", [](ProofStep& s) { s.fact += 1u << 30; });
    for (size_t a = 0; a < step.arguments.size(); ++a) {
      const Value value = other(step.arguments[a], function.inputs[a]);
      if (!value.valid()) continue;
      with(i, "another argument", [&](ProofStep& s) { s.arguments[a] = value; });
    }
    const Value value = other(step.value, function.output);
    if (value.valid()) with(i, "another value", [&](ProofStep& s) { s.value = value; });
  }

  void alter_link(size_t i) {
    const std::string place = "link " + std::to_string(i + 1);
    Explanation altered = original_;
    altered.chain[i].reversed = !altered.chain[i].reversed;
    show(place + " reversed", altered);
    altered = original_;
    altered.chain.erase(altered.chain.begin() + static_cast<ptrdiff_t>(i));
    show(place + " dropped", altered);
    if (original_.steps.size() == 1) return;
    altered = original_;
    uint32_t& step = altered.chain[i].step;
    step = (step + 1) % static_cast<uint32_t>(original_.steps.size());
    show(place + " of another step", altered);
  }

  void alter_term(size_t i) {
    if (original_.terms[i].id.index() >= egraph_.ids()) return;
    Explanation altered = original_;
    altered.terms[i].function = other(altered.terms[i].function);
    show("a term of another function", altered);
  }

  const EGraph& egraph_;
  const Explanation& original_;
  Visit visit_;
  std::map<uint32_t, uint32_t> parents_;
  std::map<uint32_t, std::vector<Value>> values_;  // by sort
};

// Checks an explanation, then every alteration of it.
inline void alter(EGraph& egraph, const Explanation& explanation, MutationCounts& counts) {
  ++counts.explanations;
  counts.steps += explanation.steps.size();
  const ProofVerdict verdict = egraph.check(explanation);
  if (!verdict.accepted) {
    if (counts.failure.empty()) {
      counts.failure = "rejected: " + verdict.why + "\n" + egraph.text(explanation);
    }
    return;
  }
  constexpr size_t kMostSteps = 60;  // altering is quadratic
  if (explanation.steps.size() > kMostSteps) return;
  const auto visit = [&](const std::string& what, const Explanation& altered, bool other_rule) {
    ++counts.altered;
    if (!egraph.check(altered).accepted) {
      ++counts.rejected;
    } else if (other_rule) {
      ++counts.also_right;
    } else if (counts.failure.empty()) {
      counts.failure = "accepted with " + what + "\n" + egraph.text(explanation);
    }
  };
  ProofAlterer(egraph, explanation, visit).run();
}

inline void explain_and_alter(EGraph& egraph, Value a, Value b, MutationCounts& counts) {
  Explanation explanation;
  try {
    explanation = egraph.explain(a, b);
  } catch (const UserError&) {
    ++counts.refused;  // a rule on the way compares terms inside of containers
    return;
  }
  alter(egraph, explanation, counts);
}

}  // namespace luminal::egraph
