// Queries: facts become atoms over slots; sorts of variables are inferred from the atoms, then from
// the primitives.
#include "luminal/egraph/compile.h"

#include "luminal/base/check.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace luminal::egraph {
namespace {

// A value of the query before slots are given out; equal ones are joined.
struct Term {
  std::string name;  // empty where the text gives none
  SourcePosition position;
  SortId sort = {};  // not valid until it is known
  std::optional<Preset> preset = {};
  uint32_t joined = Value::kNone;  // the term it is equal to
};

struct TermAtom {
  FunctionId function;
  std::vector<uint32_t> terms;
};

struct TermGuard {
  SourcePosition position;
  std::string name;
  std::vector<uint32_t> inputs;
  uint32_t output = 0;
  bool is_fact = false;
  PrimitiveId primitive = {};  // not valid until the sorts tell which
};

class QueryCompiler {
 public:
  explicit QueryCompiler(const Scope& scope) : scope_(scope), schema_(scope.database.schema) {}

  CompiledQuery compile(std::span<const Fact> facts) {
    for (const Fact& fact : facts) add_fact(fact);
    resolve_primitives();
    check_all_bound();
    return give_out_slots();
  }

 private:
  [[noreturn]] void fail(SourcePosition position, const std::string& message) const {
    base::fail_at(scope_.source, position, message);
  }

  const std::string& sort_name(SortId sort) const { return schema_.sort(sort).name; }

  // --- terms --------------------------------------------------------------------------------

  uint32_t new_term(std::string name, SourcePosition position, SortId sort) {
    terms_.push_back({.name = std::move(name), .position = position, .sort = sort});
    return static_cast<uint32_t>(terms_.size() - 1);
  }

  uint32_t root(uint32_t term) const {
    while (terms_[term].joined != Value::kNone) term = terms_[term].joined;
    return term;
  }

  void give_sort(uint32_t term, SortId sort, SourcePosition position) {
    Term& t = terms_[root(term)];
    if (!t.sort.valid()) t.sort = sort;
    if (t.sort == sort) return;
    const std::string what = t.name.empty() ? "this" : "'" + t.name + "'";
    fail(position,
         what + " is of sort " + sort_name(t.sort) + " where " + sort_name(sort) + " is expected");
  }

  void join(uint32_t a, uint32_t b, SourcePosition position) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    if (terms_[b].sort.valid()) {
      give_sort(a, terms_[b].sort, position);
    } else if (terms_[a].sort.valid()) {
      terms_[b].sort = terms_[a].sort;
    }
    if (terms_[a].preset && terms_[b].preset) {
      equal_presets_.emplace_back(a, b);
      return;
    }
    if (terms_[b].preset) terms_[a].preset = terms_[b].preset;
    if (terms_[a].name.empty()) terms_[a].name = terms_[b].name;
    terms_[b].joined = a;
  }

  uint32_t term_of(const Expr& expr) {
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

  uint32_t variable(const Expr& expr) {
    if (expr.name == "_") return new_term("", expr.position, SortId{});
    if (const auto known = variables_.find(expr.name); known != variables_.end()) {
      return known->second;
    }
    const uint32_t term = new_term(expr.name, expr.position, SortId{});
    if (const auto global = scope_.globals.find(expr.name); global != scope_.globals.end()) {
      terms_[term].sort = scope_.database.globals[global->second].sort;
      terms_[term].preset = Preset{.slot = 0, .value = {}, .global = global->second};
    }
    variables_.emplace(expr.name, term);
    return term;
  }

  uint32_t call(const Expr& expr, bool is_fact) {
    std::vector<uint32_t> inputs;
    for (const Expr& arg : expr.args) inputs.push_back(term_of(arg));
    if (const auto function = schema_.find_function(expr.name)) {
      const Function& declared = schema_.function(*function);
      if (declared.inputs.size() != inputs.size()) {
        fail(expr.position, "'" + expr.name + "' takes " + std::to_string(declared.inputs.size()) +
                                " arguments, found " + std::to_string(inputs.size()) +
                                "; it is declared as " +
                                print_call_sorts(schema_, declared.name, declared.inputs));
      }
      for (size_t i = 0; i < inputs.size(); ++i) {
        give_sort(inputs[i], declared.inputs[i], expr.args[i].position);
      }
      const uint32_t output = new_term("", expr.position, declared.output);
      inputs.push_back(output);
      atoms_.push_back({.function = *function, .terms = std::move(inputs)});
      return output;
    }
    if (schema_.find_primitives(expr.name).empty()) {
      fail(expr.position, "'" + expr.name + "' is neither a function nor a primitive; declare it" +
                              " before this rule");
    }
    const uint32_t output = new_term("", expr.position, SortId{});
    guards_.push_back({.position = expr.position,
                       .name = expr.name,
                       .inputs = std::move(inputs),
                       .output = output,
                       .is_fact = is_fact});
    return output;
  }

  void add_fact(const Fact& fact) {
    if (fact.sides.size() == 1) {
      call(fact.sides[0], true);
      return;
    }
    const uint32_t first = term_of(fact.sides[0]);
    for (size_t i = 1; i < fact.sides.size(); ++i) {
      join(first, term_of(fact.sides[i]), fact.sides[i].position);
    }
  }

  // --- primitives ---------------------------------------------------------------------------

  bool fits(uint32_t term, SortId sort) const {
    const SortId known = terms_[root(term)].sort;
    return !known.valid() || known == sort;
  }

  bool fits(const TermGuard& guard, const Primitive& primitive) const {
    if (!fits(guard.output, primitive.output)) return false;
    if (primitive.any_sort) return guard.inputs.size() == 2;
    if (guard.inputs.size() != primitive.inputs.size()) return false;
    for (size_t i = 0; i < guard.inputs.size(); ++i) {
      if (!fits(guard.inputs[i], primitive.inputs[i])) return false;
    }
    return true;
  }

  // Takes the one primitive that the known sorts leave, whose own sorts may tell others apart.
  void resolve_primitives() {
    size_t left = guards_.size();
    for (bool progress = true; left > 0 && progress;) {
      progress = false;
      for (TermGuard& guard : guards_) {
        if (guard.primitive.valid() || !resolve(guard)) continue;
        progress = true;
        --left;
      }
    }
    for (const TermGuard& guard : guards_) {
      if (guard.primitive.valid()) continue;
      fail(guard.position, "the sorts of " + found_sorts(guard) +
                               " aren't known well enough to choose among " +
                               print_overloads(schema_, guard.name) +
                               "; bind a variable in a fact about a function");
    }
  }

  bool resolve(TermGuard& guard) {
    std::optional<PrimitiveId> found;
    for (PrimitiveId id : schema_.find_primitives(guard.name)) {
      if (!fits(guard, schema_.primitive(id))) continue;
      if (found) return false;
      found = id;
    }
    if (!found) {
      fail(guard.position, "no primitive takes " + found_sorts(guard) + "; there is " +
                               print_overloads(schema_, guard.name));
    }
    const Primitive& primitive = schema_.primitive(*found);
    if (primitive.any_sort) {
      const SortId a = terms_[root(guard.inputs[0])].sort, b = terms_[root(guard.inputs[1])].sort;
      if (!a.valid() && !b.valid()) return false;
      give_sort(guard.inputs[0], a.valid() ? a : b, guard.position);
      give_sort(guard.inputs[1], a.valid() ? a : b, guard.position);
    }
    for (size_t i = 0; i < primitive.inputs.size(); ++i) {
      give_sort(guard.inputs[i], primitive.inputs[i], guard.position);
    }
    give_sort(guard.output, primitive.output, guard.position);
    // egglog lets a false bool match; rather than give other answers, ask what is meant.
    if (guard.is_fact && primitive.output == schema_.boolean() && !primitive.host) {
      fail(guard.position, "a bool is no fact; write (= true (" + guard.name + " …))");
    }
    guard.primitive = *found;
    return true;
  }

  std::string found_sorts(const TermGuard& guard) const {
    std::vector<SortId> sorts;
    for (uint32_t input : guard.inputs) sorts.push_back(terms_[root(input)].sort);
    return print_call_sorts(schema_, guard.name, sorts);
  }

  // --- binding ------------------------------------------------------------------------------

  void check_all_bound() const {
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

  uint32_t slot_of(uint32_t term) {
    const uint32_t r = root(term);
    const auto [entry, is_new] = slots_.emplace(r, static_cast<uint32_t>(slots_.size()));
    return entry->second;
  }

  std::vector<uint32_t> slots_of(const std::vector<uint32_t>& terms) {
    std::vector<uint32_t> slots;
    for (uint32_t term : terms) slots.push_back(slot_of(term));
    return slots;
  }

  CompiledQuery give_out_slots() {
    CompiledQuery result;
    Query& query = result.query;
    for (const TermAtom& atom : atoms_) {
      Atom compiled{.function = atom.function, .slots = slots_of(atom.terms)};
      if (std::find(query.atoms.begin(), query.atoms.end(), compiled) == query.atoms.end()) {
        query.atoms.push_back(std::move(compiled));
      }
    }
    for (const TermGuard& guard : guards_) {
      const Primitive& primitive = schema_.primitive(guard.primitive);
      query.guards.push_back(
          {.primitive = guard.primitive,
           .inputs = slots_of(guard.inputs),
           .output = slot_of(guard.output),
           .must_be_true = guard.is_fact && primitive.output == schema_.boolean()});
    }
    for (auto [a, b] : equal_presets_) query.equal_presets.emplace_back(slot_of(a), slot_of(b));
    for (const auto& [name, term] : variables_) {
      result.variables.emplace(name,
                               Binding{.slot = slot_of(term), .sort = terms_[root(term)].sort});
    }
    for (const auto& [term, slot] : slots_) {
      if (!terms_[term].preset) continue;
      query.presets.push_back(*terms_[term].preset);
      query.presets.back().slot = slot;
    }
    query.slots = static_cast<uint32_t>(slots_.size());
    return result;
  }

  const Scope& scope_;
  const Schema& schema_;
  std::vector<Term> terms_;
  std::vector<TermAtom> atoms_;
  std::vector<TermGuard> guards_;
  std::vector<std::pair<uint32_t, uint32_t>> equal_presets_;
  std::map<std::string, uint32_t> variables_;
  std::map<uint32_t, uint32_t> slots_;  // by root term
};

}  // namespace

CompiledQuery compile_query(const Scope& scope, std::span<const Fact> facts) {
  return QueryCompiler(scope).compile(facts);
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

std::string print_call_sorts(const Schema& schema, const std::string& name,
                             std::span<const SortId> sorts) {
  std::string text = "(" + name;
  for (SortId sort : sorts) text += " " + (sort.valid() ? schema.sort(sort).name : "?");
  return text + ")";
}

std::string print_overloads(const Schema& schema, const std::string& name) {
  std::string text;
  for (PrimitiveId id : schema.find_primitives(name)) {
    const Primitive& primitive = schema.primitive(id);
    if (!text.empty()) text += ", ";
    text += primitive.any_sort ? "(" + name + " a a)"
                               : print_call_sorts(schema, name, primitive.inputs);
  }
  return text;
}

}  // namespace luminal::egraph
