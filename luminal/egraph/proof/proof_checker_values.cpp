// The values that an expression may have: names, rows, terms and primitives.
#include "luminal/egraph/proof/proof_checker_state.h"

#include <algorithm>
#include <array>
#include <optional>

namespace luminal::egraph {

Candidates ProofChecker::evaluate(const Expr& expr, Effects* effects) {
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

Candidates ProofChecker::variable(const std::string& name) const {
  if (name == "_") return {.any = true};
  if (const auto found = names_.find(name); found != names_.end()) return found->second;
  const auto global = program_.globals.find(name);
  require(global != program_.globals.end(), "an action uses an unknown name");
  return one(global->second.value, global->second.sort);
}

Candidates ProofChecker::find_rows(FunctionId id, const std::vector<Candidates>& arguments) {
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

Candidates ProofChecker::make_row(FunctionId id, std::vector<Candidates> arguments,
                                  Effects& effects) {
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

Candidates ProofChecker::run_primitives(const std::string& name,
                                        const std::vector<Candidates>& arguments) {
  Candidates result;
  std::vector<Candidate> chosen(arguments.size());
  choose(name, arguments, chosen, 0, result);
  return result;
}

void ProofChecker::choose(const std::string& name, const std::vector<Candidates>& arguments,
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

bool ProofChecker::takes(const Primitive& primitive, const std::vector<Candidate>& arguments) {
  if (primitive.any_sort) return arguments.size() == 2 && arguments[0].sort == arguments[1].sort;
  if (!primitive.variadic && primitive.inputs.size() != arguments.size()) return false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].sort != primitive.inputs[primitive.variadic ? 0 : i]) return false;
  }
  return true;
}

std::optional<Value> ProofChecker::run_primitive(const Primitive& primitive,
                                                 const std::vector<Candidate>& arguments) const {
  std::vector<Value> values;
  bool with_ids = false;
  for (const Candidate& argument : arguments) {
    values.push_back(argument.value);
    with_ids |= schema_.is_equality(argument.sort) || containers_.holds_ids(argument.sort);
    // The result stays in the e-graph, so its parts must be known.
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

bool moves_terms_only(const Primitive& primitive) {
  static constexpr std::array kNames = {
      "vec-append", "vec-empty", "vec-get",   "vec-length", "vec-of", "vec-pop",   "vec-push",
      "vec-remove", "vec-set",   "set-empty", "set-insert", "set-of", "set-union", "map-empty"};
  return !primitive.host && std::find(kNames.begin(), kNames.end(), primitive.name) != kNames.end();
}

}  // namespace luminal::egraph
