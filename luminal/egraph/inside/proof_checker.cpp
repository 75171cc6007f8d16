#include "luminal/egraph/inside/proof_checker.h"

#include "luminal/base/errors.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace luminal::egraph {
namespace {

struct Rejected {
  std::string why;
};

[[noreturn]] void reject(std::string why) { throw Rejected{std::move(why)}; }

void require(bool holds, const char* why) {
  if (!holds) reject(why);
}

// A value that an expression may have; a relation's call has the row it stands for.
struct Candidate {
  Value value;
  SortId sort;
  const ProofStep* row = nullptr;
};
// Several where several rows or terms fit; none where nothing does.
struct Candidates {
  std::vector<Candidate> list = {};
  bool any = false;  // `_` stands for every value
};

using Names = std::map<std::string, Candidates, std::less<>>;

// What the actions of a rule do under some bindings.
struct Effects {
  struct Row {
    FunctionId function;
    std::vector<Candidates> arguments;
    std::optional<Candidates> value;  // of a set
  };
  struct Union {
    Candidates left, right;
  };

  std::vector<Row> rows;
  std::vector<Union> unions;
};

class Checker {
 public:
  Checker(const ProofProgram& program, const Explanation& explanation)
      : program_(program),
        schema_(program.schema),
        containers_(program.constants.containers),
        explanation_(explanation) {}

  ProofVerdict run() {
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

 private:
  // --- terms and their equality

  void take(const ProofTerm& term) {
    require(term.function.index() < schema_.functions().size(), "an unknown function");
    const Function& function = schema_.function(term.function);
    require(function.kind == FunctionKind::Constructor, "only constructors make terms");
    require(term.arguments.size() == function.inputs.size(), "a wrong number of arguments");
    for (size_t i = 0; i < term.arguments.size(); ++i) {
      require_named(term.arguments[i], function.inputs[i]);
    }
    require(program_.is_name(term), "an id stands for another term");
    const auto [entry, is_new] =
        ids_.emplace(term.id.value, static_cast<uint32_t>(parents_.size()));
    require(is_new, "an id has two terms");
    parents_.push_back(entry->second);
    united_at_.push_back(0);
    terms_.push_back(&term);
    by_function_[term.function.value].push_back(&term);
  }

  void require_named(Value value, SortId sort) const {
    if (schema_.is_equality(sort)) return require(ids_.contains(value.value), "an unnamed id");
    if (!containers_.holds_ids(sort)) return;
    for (size_t i = 0; const Value item : containers_.items(sort, value)) {
      require_named(item, containers_.item_sort(sort, i++));
    }
  }

  void require_known(Value value, SortId sort) const {
    if (schema_.is_equality(sort)) return require(value.index() < program_.ids, "an unknown id");
    if (!containers_.holds_ids(sort)) return;
    for (size_t i = 0; const Value item : containers_.items(sort, value)) {
      require_known(item, containers_.item_sort(sort, i++));
    }
  }

  const ProofTerm& term(Value id) const {
    const auto found = ids_.find(id.value);
    require(found != ids_.end(), "an unnamed id");
    return *terms_[found->second];
  }

  uint32_t root(Value id) const {
    const auto found = ids_.find(id.value);
    require(found != ids_.end(), "an unnamed id");
    uint32_t at = found->second;
    while (parents_[at] != at && united_at_[at] < time_) at = parents_[at];
    return at;
  }

  void unite(Value a, Value b) {
    const uint32_t root_a = root(a), root_b = root(b);
    require(root_a != root_b, "these terms are equal already");
    parents_[std::max(root_a, root_b)] = std::min(root_a, root_b);
    united_at_[std::max(root_a, root_b)] = now_;
  }

  // Equal values have equal texts.
  std::string normal(Value value, SortId sort) const {
    if (schema_.is_equality(sort)) return "#" + std::to_string(root(value));
    if (!containers_.holds_ids(sort)) return std::to_string(value.value);
    std::vector<std::string> items;
    for (const Value item : containers_.items(sort, value)) {
      items.push_back(normal(item, containers_.item_sort(sort, items.size())));
    }
    std::string text = "[";
    switch (containers_.shape(sort).kind) {
      case ContainerKind::Vec:
        for (const std::string& item : items) text += item + " ";
        break;
      case ContainerKind::Set:
        for (const std::string& item : std::set(items.begin(), items.end())) text += item + " ";
        break;
      case ContainerKind::Map: {
        std::map<std::string, std::string> entries;
        for (size_t i = 0; i < items.size(); i += 2) entries[items[i]] = items[i + 1];
        for (const auto& [key, item] : entries) text += key + ":" + item + " ";
        break;
      }
    }
    return text + "]";
  }

  bool equal(Value a, Value b, SortId sort) const {
    if (schema_.is_equality(sort)) return root(a) == root(b);
    if (a == b || !containers_.holds_ids(sort)) return a == b;
    return normal(a, sort) == normal(b, sort);
  }

  // One row of a relation is another's only at equal arguments.
  bool equal(const Candidate& a, const Candidate& b) const {
    if (a.sort != b.sort || !equal(a.value, b.value, a.sort)) return false;
    if (a.row == nullptr || b.row == nullptr) return true;
    return a.row->function == b.row->function &&
           same_values(a.row->arguments, b.row->arguments, schema_.function(a.row->function));
  }

  bool same_values(const std::vector<Value>& a, const std::vector<Value>& b,
                   const Function& function) const {
    for (size_t i = 0; i < function.inputs.size(); ++i) {
      if (!equal(a[i], b[i], function.inputs[i])) return false;
    }
    return true;
  }

  bool contains(const Candidates& candidates, const Candidate& value) const {
    return candidates.any ||
           std::any_of(candidates.list.begin(), candidates.list.end(),
                       [&](const Candidate& candidate) { return equal(candidate, value); });
  }
  bool contains(const Candidates& candidates, Value value, SortId sort) const {
    return contains(candidates, {.value = value, .sort = sort});
  }

  bool fit(const std::vector<Candidates>& arguments, const std::vector<Value>& values,
           const Function& function) const {
    for (size_t i = 0; i < values.size(); ++i) {
      if (!contains(arguments[i], values[i], function.inputs[i])) return false;
    }
    return true;
  }

  // --- steps

  void check_step(const ProofStep& step) {
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

  void check_shape(const ProofStep& step) const {
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

  void check_fact(const ProofStep& step) {
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

  void check_union(const ProofStep& step) {
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

  void check_congruence(const ProofStep& step) const {
    require(step.cause == ProofStep::Cause::Law, "congruence has no other cause");
    const ProofTerm& left = term(step.left);
    const ProofTerm& right = term(step.right);
    require(left.function == step.function && right.function == step.function,
            "the two terms aren't of this function");
    require(same_values(left.arguments, right.arguments, schema_.function(step.function)),
            "the arguments of the two terms aren't equal yet");
  }

  bool makes(const Effects& effects, const ProofStep& step) const {
    const Function& function = schema_.function(step.function);
    return std::any_of(effects.rows.begin(), effects.rows.end(), [&](const Effects::Row& row) {
      if (row.function != step.function || !fit(row.arguments, step.arguments, function)) {
        return false;
      }
      return !row.value || contains(*row.value, step.value, function.output);
    });
  }

  void check_merge(const ProofStep& step) {
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

  void check_chain() const {
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

  // --- rules

  void begin_premises(const ProofStep& step) {
    premises_.clear();
    for (const uint32_t fact : step.premises) {
      const auto found = facts_.find(fact);
      require(found != facts_.end(), "it rests on a fact that no earlier step states");
      premises_.push_back(found->second.step);
    }
    used_.assign(premises_.size(), false);
  }

  void require_all_used() const {
    require(std::find(used_.begin(), used_.end(), false) == used_.end(),
            "it names a fact that it doesn't rest on");
  }

  Effects apply_rule(const ProofStep& step) {
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

  bool is_global(const std::string& name) const {
    const auto global = program_.globals.find(name);
    return global != program_.globals.end() && global->second.index < known_globals_;
  }

  void collect_variables(const Expr& expr, std::set<std::string>& into) const {
    if (expr.kind == Expr::Kind::Variable && expr.name != "_" && !is_global(expr.name)) {
      into.insert(expr.name);
    }
    for (const Expr& argument : expr.args) collect_variables(argument, into);
  }

  bool holds(const Fact& fact) {
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
    return std::any_of(
        concrete->list.begin(), concrete->list.end(), [&](const Candidate& candidate) {
          return std::all_of(sides.begin(), sides.end(),
                             [&](const Candidates& side) { return contains(side, candidate); });
        });
  }

  // --- expressions

  // In a query, where `effects` is null, a call is a row that must be there; in actions it makes
  // one.
  Candidates evaluate(const Expr& expr, Effects* effects) {
    Constants& constants = program_.constants;
    switch (expr.kind) {
      case Expr::Kind::Variable:
        return variable(expr.name);
      case Expr::Kind::I64:
        return one(constants.intern(expr.i64), schema_.i64());
      case Expr::Kind::F64:
        return one(constants.intern(expr.f64), schema_.f64());
      case Expr::Kind::String:
        return one(constants.intern(std::string_view(expr.name)), schema_.string());
      case Expr::Kind::Bool:
        return one(Constants::boolean(expr.boolean), schema_.boolean());
      case Expr::Kind::Unit:
        return one(Constants::unit(), schema_.unit());
      case Expr::Kind::Call:
        break;
    }
    std::vector<Candidates> arguments;
    for (const Expr& argument : expr.args) arguments.push_back(evaluate(argument, effects));
    const auto function = schema_.find_function(expr.name);
    if (!function) return run_primitives(expr.name, arguments);
    const bool is_row =
        effects == nullptr || schema_.function(*function).kind == FunctionKind::Function;
    return is_row ? find_rows(*function, arguments)
                  : make_row(*function, std::move(arguments), *effects);
  }

  static Candidates one(Value value, SortId sort) {
    return {.list = {{.value = value, .sort = sort}}};
  }

  Candidates variable(const std::string& name) const {
    if (name == "_") return {.any = true};
    if (const auto found = names_.find(name); found != names_.end()) return found->second;
    const auto global = program_.globals.find(name);
    require(global != program_.globals.end(), "an action uses an unknown name");
    return one(global->second.value, global->second.sort);
  }

  Candidates find_rows(FunctionId id, const std::vector<Candidates>& arguments) {
    const Function& function = schema_.function(id);
    Candidates result;
    for (size_t i = 0; i < premises_.size(); ++i) {
      const ProofStep& row = *premises_[i];
      if (facts_.at(row.fact).at >= time_) continue;
      if (row.function != id || !fit(arguments, row.arguments, function)) continue;
      used_[i] = true;
      const bool is_relation = function.kind == FunctionKind::Relation;
      result.list.push_back(
          {.value = row.value, .sort = function.output, .row = is_relation ? &row : nullptr});
    }
    return result;
  }

  Candidates make_row(FunctionId id, std::vector<Candidates> arguments, Effects& effects) {
    const Function& function = schema_.function(id);
    Candidates result;
    if (function.kind == FunctionKind::Relation) {
      result = one(Constants::unit(), schema_.unit());
    } else if (const auto made = by_function_.find(id.value); made != by_function_.end()) {
      for (const ProofTerm* candidate : made->second) {
        if (!fit(arguments, candidate->arguments, function)) continue;
        result.list.push_back({.value = candidate->id, .sort = function.output});
      }
    }
    effects.rows.push_back({.function = id, .arguments = std::move(arguments), .value = {}});
    return result;
  }

  Candidates run_primitives(const std::string& name, const std::vector<Candidates>& arguments) {
    Candidates result;
    std::vector<Candidate> chosen(arguments.size());
    choose(name, arguments, chosen, 0, result);
    return result;
  }

  void choose(const std::string& name, const std::vector<Candidates>& arguments,
              std::vector<Candidate>& chosen, size_t at, Candidates& result) {
    if (at < arguments.size()) {
      for (const Candidate& candidate : arguments[at].list) {
        chosen[at] = candidate;
        choose(name, arguments, chosen, at + 1, result);
      }
      return;
    }
    for (const PrimitiveId id : schema_.find_primitives(name)) {
      const Primitive& primitive = schema_.primitive(id);
      if (!takes(primitive, chosen)) continue;
      const std::optional<Value> value = run_primitive(primitive, chosen);
      if (!value) continue;
      const SortId sort = primitive.output.valid() ? primitive.output : chosen[0].sort;
      result.list.push_back({.value = *value, .sort = sort});
    }
  }

  static bool takes(const Primitive& primitive, const std::vector<Candidate>& arguments) {
    if (primitive.any_sort) return arguments.size() == 2 && arguments[0].sort == arguments[1].sort;
    if (!primitive.variadic && primitive.inputs.size() != arguments.size()) return false;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].sort != primitive.inputs[primitive.variadic ? 0 : i]) return false;
    }
    return true;
  }

  // Values with ids inside aren't what the engine computed with: those were of the same classes.
  std::optional<Value> run_primitive(const Primitive& primitive,
                                     const std::vector<Candidate>& arguments) const {
    std::vector<Value> values;
    bool with_ids = false;
    for (const Candidate& argument : arguments) {
      values.push_back(argument.value);
      with_ids |= schema_.is_equality(argument.sort) || containers_.holds_ids(argument.sort);
      // What is made of them stays in the e-graph.
      require_known(argument.value, argument.sort);
    }
    if (with_ids && primitive.any_sort) {
      const bool compares = primitive.name == "!=" || primitive.name == "value-eq";
      const bool same = equal(arguments[0], arguments[1]);
      return compares && same == (primitive.name == "value-eq") ? std::optional(Constants::unit())
                                                                : std::nullopt;
    }
    if (with_ids && !moves_terms_only(primitive)) return std::nullopt;
    return primitive.run(program_.constants, values);
  }

  // --- actions

  Effects act(const RuleDeclaration& rule) {
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

  std::vector<Candidates> evaluate_all(const std::vector<Expr>& exprs, Effects& effects) {
    std::vector<Candidates> result;
    for (const Expr& expr : exprs) result.push_back(evaluate(expr, &effects));
    return result;
  }

  FunctionId called(const Expr& expr) const {
    const auto id = schema_.find_function(expr.name);
    require(id.has_value(), "a rule sets what is no function");
    return *id;
  }

  const ProofProgram& program_;
  const Schema& schema_;
  const Containers& containers_;
  const Explanation& explanation_;

  std::unordered_map<uint32_t, uint32_t> ids_;  // to the numbers of terms
  std::vector<const ProofTerm*> terms_;
  // Links are never shortened: they tell what was equal at any earlier time as well.
  std::vector<uint32_t> parents_;
  std::vector<uint32_t> united_at_;  // the step that made a root's parent its parent
  uint32_t now_ = 0;                 // the step at hand
  uint32_t time_ = 0;                // steps before this one count
  std::unordered_map<uint32_t, std::vector<const ProofTerm*>> by_function_;
  struct Stated {
    const ProofStep* step;
    uint32_t at;
  };
  std::unordered_map<uint32_t, Stated> facts_;

  // Of the step at hand.
  size_t known_globals_ = 0;
  Names names_;
  std::vector<const ProofStep*> premises_;
  std::vector<bool> used_;
};

}  // namespace

bool moves_terms_only(const Primitive& primitive) {
  static constexpr std::array kNames = {
      "vec-append", "vec-empty", "vec-get",   "vec-length", "vec-of", "vec-pop",   "vec-push",
      "vec-remove", "vec-set",   "set-empty", "set-insert", "set-of", "set-union", "map-empty"};
  return !primitive.host && std::find(kNames.begin(), kNames.end(), primitive.name) != kNames.end();
}

ProofVerdict check(const ProofProgram& program, const Explanation& explanation) {
  return Checker(program, explanation).run();
}

}  // namespace luminal::egraph
