#include "luminal/base/check.h"
#include "luminal/egraph/compile/query_compiler.h"

#include <algorithm>
#include <utility>

namespace luminal::egraph {

// --- terms ----------------------------------------------------------------------------------

uint32_t QueryCompiler::new_term(std::string name, SourcePosition position, SortId sort) {
  const uint32_t sort_variable = sorts_.make(sort, name, position);
  terms_.push_back({.name = std::move(name), .position = position, .sort = sort_variable});
  return static_cast<uint32_t>(terms_.size() - 1);
}

uint32_t QueryCompiler::root(uint32_t term) const {
  while (terms_[term].joined != Value::kNone) term = terms_[term].joined;
  return term;
}

void QueryCompiler::join(uint32_t a, uint32_t b, SourcePosition position) {
  a = root(a);
  b = root(b);
  if (a == b) return;
  sorts_.join(terms_[a].sort, terms_[b].sort, position);
  if (terms_[a].preset && terms_[b].preset) {
    equal_presets_.emplace_back(a, b);
    return;
  }
  if (terms_[a].relation_row == Value::kNone) {
    terms_[a].relation_row = terms_[b].relation_row;
  } else if (terms_[b].relation_row != Value::kNone) {
    join_rows(terms_[a].relation_row, terms_[b].relation_row, position);
  }
  if (terms_[b].preset) terms_[a].preset = terms_[b].preset;
  if (terms_[a].name.empty()) terms_[a].name = terms_[b].name;
  terms_[b].joined = a;
}

// As in egglog, (= (r 1) (r x)) asks for one row and so requires equal arguments.
void QueryCompiler::join_rows(uint32_t a, uint32_t b, SourcePosition position) {
  const std::string& name = schema_.function(atoms_[a].function).name;
  const std::string& other = schema_.function(atoms_[b].function).name;
  if (name != other) {
    fail(position,
         "a row of '" + other + "' is never one of '" + name + "'; state both on their own");
  }
  for (size_t i = 0; i + 1 < atoms_[a].terms.size(); ++i) {
    join(atoms_[a].terms[i], atoms_[b].terms[i], position);
  }
}

uint32_t QueryCompiler::term_of(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::Variable:
      return variable(expr);
    case Expr::Kind::Call:
      return call(expr, false);
    case Expr::Kind::I64:
    case Expr::Kind::F64:
    case Expr::Kind::String:
    case Expr::Kind::Bool:
    case Expr::Kind::Unit:
      break;
  }
  const Literal literal = intern_literal(scope_.database, expr);
  const uint32_t term = new_term("", expr.position, literal.sort);
  terms_[term].preset = Preset{.slot = 0, .value = literal.value};
  return term;
}

uint32_t QueryCompiler::variable(const Expr& expr) {
  if (expr.name == "_") return new_term("", expr.position, SortId{});
  if (const auto known = variables_.find(expr.name); known != variables_.end()) {
    return known->second;
  }
  const auto global = scope_.globals.find(expr.name);
  const bool is_global = global != scope_.globals.end();
  const uint32_t term =
      new_term(expr.name, expr.position,
               is_global ? scope_.database.globals[global->second].sort : SortId{});
  if (is_global) terms_[term].preset = Preset{.slot = 0, .value = {}, .global = global->second};
  variables_.emplace(expr.name, term);
  return term;
}

uint32_t QueryCompiler::call(const Expr& expr, bool is_fact) {
  std::vector<uint32_t> inputs;
  for (const Expr& arg : expr.args) inputs.push_back(term_of(arg));
  if (const auto function = schema_.find_function(expr.name)) {
    return row(expr, *function, std::move(inputs));
  }
  if (schema_.find_primitives(expr.name).empty()) {
    fail(expr.position, "'" + expr.name + "' is neither a function nor a primitive; declare it" +
                            " before this rule");
  }
  return guard(expr, std::move(inputs), is_fact);
}

uint32_t QueryCompiler::row(const Expr& expr, FunctionId function, std::vector<uint32_t> inputs) {
  const Function& declared = schema_.function(function);
  if (declared.inputs.size() != inputs.size()) {
    fail(expr.position, "'" + expr.name + "' takes " + std::to_string(declared.inputs.size()) +
                            " arguments, found " + std::to_string(inputs.size()) +
                            "; it is declared as " +
                            print_call_sorts(schema_, declared.name, declared.inputs));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    sorts_.require(terms_[inputs[i]].sort, declared.inputs[i], expr.args[i].position);
  }
  const uint32_t output = new_term("", expr.position, declared.output);
  inputs.push_back(output);
  if (declared.kind == FunctionKind::Relation) {
    terms_[output].relation_row = static_cast<uint32_t>(atoms_.size());
  }
  atoms_.push_back({.function = function, .terms = std::move(inputs)});
  return output;
}

uint32_t QueryCompiler::guard(const Expr& expr, std::vector<uint32_t> inputs, bool is_fact) {
  const uint32_t output = new_term("", expr.position, SortId{});
  std::vector<uint32_t> input_sorts;
  for (uint32_t input : inputs) input_sorts.push_back(terms_[input].sort);
  guards_.push_back({.position = expr.position,
                     .name = expr.name,
                     .inputs = std::move(inputs),
                     .output = output,
                     .is_fact = is_fact,
                     .call = sorts_.add_call(expr.name, std::move(input_sorts), terms_[output].sort,
                                             expr.position)});
  return output;
}

void QueryCompiler::add(std::span<const Fact> facts) {
  for (const Fact& fact : facts) {
    if (fact.sides.size() == 1) {
      call(fact.sides[0], true);
      continue;
    }
    const uint32_t first = term_of(fact.sides[0]);
    for (size_t i = 1; i < fact.sides.size(); ++i) {
      join(first, term_of(fact.sides[i]), fact.sides[i].position);
    }
  }
}

// --- binding --------------------------------------------------------------------------------

void QueryCompiler::check_all_bound() const {
  std::vector<bool> bound(terms_.size());
  for (uint32_t t = 0; t < terms_.size(); ++t) bound[t] = terms_[root(t)].preset.has_value();
  const auto bind = [&](uint32_t term) { bound[root(term)] = true; };
  for (const TermAtom& atom : atoms_) std::for_each(atom.terms.begin(), atom.terms.end(), bind);
  for (bool progress = true; progress;) {
    progress = false;
    for (const TermGuard& guard : guards_) {
      const bool ready = std::all_of(guard.inputs.begin(), guard.inputs.end(),
                                     [&](uint32_t term) { return bound[root(term)]; });
      if (!ready || bound[root(guard.output)]) continue;
      bind(guard.output);
      progress = true;
    }
  }
  for (uint32_t t = 0; t < terms_.size(); ++t) {
    if (bound[root(t)] || terms_[root(t)].name.empty()) continue;
    fail(terms_[t].position, "nothing binds '" + terms_[root(t)].name +
                                 "'; use it in a fact about a function, or as the result of a "
                                 "primitive whose arguments are bound");
  }
  for (uint32_t t = 0; t < terms_.size(); ++t) {
    if (!bound[root(t)]) fail(terms_[t].position, "nothing binds this value of the query");
  }
}

// egglog lets a false bool match. To avoid different answers, ask the user what is meant.
void QueryCompiler::check_facts() const {
  for (const TermGuard& guard : guards_) {
    const Primitive& primitive = schema_.primitive(sorts_.primitive(guard.call));
    if (!guard.is_fact || primitive.output != schema_.boolean() || primitive.host) continue;
    fail(guard.position, "a bool is not a fact; write (= true (" + guard.name + " …))");
  }
}

uint32_t QueryCompiler::slot_of(uint32_t term) {
  const auto [entry, is_new] = slots_.emplace(root(term), slots());
  return entry->second;
}

std::vector<uint32_t> QueryCompiler::slots_of(const std::vector<uint32_t>& terms) {
  std::vector<uint32_t> slots;
  for (uint32_t term : terms) slots.push_back(slot_of(term));
  return slots;
}

QueryCompiler::Bindings QueryCompiler::bindings() {
  for (uint32_t t = 0; t < terms_.size(); ++t) slot_of(t);
  Bindings result;
  for (const auto& [name, term] : variables_) {
    result.emplace(name, Binding{.slot = slot_of(term), .sort = terms_[root(term)].sort});
  }
  return result;
}

Query QueryCompiler::finish() {
  check_facts();
  check_all_bound();
  for (const Term& term : terms_) sorts_.known_sort(term.sort);
  Query query;
  for (const TermAtom& atom : atoms_) {
    Atom compiled{.function = atom.function, .slots = slots_of(atom.terms)};
    if (std::find(query.atoms.begin(), query.atoms.end(), compiled) == query.atoms.end()) {
      query.atoms.push_back(std::move(compiled));
    }
  }
  for (const TermGuard& guard : guards_) {
    const PrimitiveId id = sorts_.primitive(guard.call);
    query.guards.push_back(
        {.primitive = id,
         .inputs = slots_of(guard.inputs),
         .output = slot_of(guard.output),
         .must_be_true = guard.is_fact && schema_.primitive(id).output == schema_.boolean()});
  }
  for (auto [a, b] : equal_presets_) query.equal_presets.emplace_back(slot_of(a), slot_of(b));
  for (const auto& [term, slot] : slots_) {
    if (!terms_[term].preset) continue;
    query.presets.push_back(*terms_[term].preset);
    query.presets.back().slot = slot;
  }
  query.slots = slots();
  return query;
}

Query compile_query(const Scope& scope, std::span<const Fact> facts) {
  SortSolver sorts(scope.database.schema, scope.source);
  QueryCompiler compiler(scope, sorts);
  compiler.add(facts);
  sorts.solve();
  return compiler.finish();
}

Literal intern_literal(Database& database, const Expr& literal) {
  const Schema& schema = database.schema;
  switch (literal.kind) {
    case Expr::Kind::I64:
      return {database.constants.intern(literal.i64), schema.i64()};
    case Expr::Kind::F64:
      return {database.constants.intern(literal.f64), schema.f64()};
    case Expr::Kind::String:
      return {database.constants.intern(std::string_view(literal.name)), schema.string()};
    case Expr::Kind::Bool:
      return {Constants::boolean(literal.boolean), schema.boolean()};
    case Expr::Kind::Unit:
      return {Constants::unit(), schema.unit()};
    case Expr::Kind::Variable:
    case Expr::Kind::Call:
      break;
  }
  LUMINAL_CHECK(false, "no literal");
}

}  // namespace luminal::egraph
