#include "luminal/egraph/why_not.h"

#include "luminal/base/errors.h"
#include "luminal/egraph/database/rebuild.h"
#include "luminal/egraph/explain/partial_match.h"
#include "luminal/egraph/explain/term_text.h"
#include "luminal/egraph/language/parser.h"
#include "luminal/egraph/saturate/engine.h"

#include <algorithm>
#include <set>

namespace luminal::egraph {
namespace {

// The maximum number of rows listed in place of the missing one.
constexpr size_t kMostInstead = 5;

class MismatchFinder {
 public:
  MismatchFinder(Engine& engine, RuleId id)
      : database_(engine.database),
        rule_(engine.rule(id)),
        query_(rule_.matcher.query()),
        terms_(engine.database),
        slot_sorts_(query_.slots),
        slot_names_(query_.slots) {
    for (const auto& [name, binding] : rule_.variables) {
      slot_sorts_[binding.slot] = binding.sort;
      if (name != kRewriteRoot) slot_names_[binding.slot] = name;
    }
    for (const Atom& atom : query_.atoms) {
      const Function& function = database_.schema.function(atom.function);
      for (size_t i = 0; i < function.inputs.size(); ++i) {
        slot_sorts_[atom.slots[i]] = function.inputs[i];
      }
      slot_sorts_[atom.slots.back()] = function.output;
    }
    for (const Guard& guard : query_.guards) {
      const Primitive& primitive = database_.schema.primitive(guard.primitive);
      for (size_t i = 0; i < primitive.inputs.size(); ++i) {
        slot_sorts_[guard.inputs[i]] = primitive.inputs[i];
      }
      slot_sorts_[guard.output] = primitive.output;
    }
  }

  WhyNot explain(Value value, SortId sort, std::string_view variable) {
    why_.rule = rule_.name;
    why_.term = terms_.print(value, sort);
    const std::vector<uint32_t> slots = slots_for(sort, variable);
    if (slots.empty()) {
      why_.outcome = WhyNot::Outcome::NothingFits;
      why_.detail = "nothing in it is of sort " + database_.schema.sort(sort).name;
      return why_;
    }
    PartialMatcher matcher(database_, query_);
    std::optional<PartialMatch> furthest;
    for (uint32_t slot : slots) {
      PartialMatch match = matcher.find(slot, value);
      if (furthest && furthest->held >= match.held) continue;
      furthest = std::move(match);
      chosen_ = slot;
    }
    tell(*furthest);
    return why_;
  }

 private:
  using Slots = std::vector<std::optional<Value>>;

  // The slots that may be bound to the term, most likely first: the top of the pattern, then parts.
  std::vector<uint32_t> slots_for(SortId sort, std::string_view variable) const {
    if (!variable.empty()) {
      const auto found = rule_.variables.find(variable);
      if (found == rule_.variables.end()) {
        throw UserError("rule '" + rule_.name + "' has no variable '" + std::string(variable) +
                        "'; it has " + variable_list());
      }
      if (found->second.sort != sort) {
        throw UserError("'" + std::string(variable) + "' of rule '" + rule_.name + "' is of sort " +
                        database_.schema.sort(found->second.sort).name + ", the term of sort " +
                        database_.schema.sort(sort).name);
      }
      return {found->second.slot};
    }
    const auto root = rule_.variables.find(std::string_view(kRewriteRoot));
    if (root != rule_.variables.end() && root->second.sort == sort) return {root->second.slot};
    std::set<uint32_t> arguments;
    for (const Atom& atom : query_.atoms) {
      arguments.insert(atom.slots.begin(), atom.slots.end() - 1);
    }
    std::vector<uint32_t> slots;
    for (const bool is_argument : {false, true}) {
      for (uint32_t slot = 0; slot < query_.slots; ++slot) {
        if (slot_sorts_[slot] == sort && arguments.contains(slot) == is_argument) {
          slots.push_back(slot);
        }
      }
    }
    return slots;
  }

  std::string variable_list() const {
    std::string list;
    for (const auto& [name, binding] : rule_.variables) {
      if (name == kRewriteRoot) continue;
      list += (list.empty() ? "" : ", ") + name;
    }
    return list.empty() ? "none" : list;
  }

  // --- printing -------------------------------------------------------------------------------

  std::string print(uint32_t slot, const Slots& slots) const {
    if (slots[slot]) return terms_.print(*slots[slot], slot_sorts_[slot]);
    if (!slot_names_[slot].empty()) return "?" + slot_names_[slot];
    // An unnamed part of the pattern is printed as the pattern the rule requires there.
    for (const Atom& atom : query_.atoms) {
      if (atom.slots.back() == slot) return print(atom, slots);
    }
    for (const Guard& guard : query_.guards) {
      if (guard.output == slot) return print(guard, slots);
    }
    return "_";
  }

  std::string print(const std::string& name, const uint32_t* inputs, size_t count,
                    const Slots& slots) const {
    std::string text = "(" + name;
    for (size_t i = 0; i < count; ++i) text += " " + print(inputs[i], slots);
    return text + ")";
  }

  std::string print(const Atom& atom, const Slots& slots) const {
    return print(database_.schema.function(atom.function).name, atom.slots.data(),
                 atom.slots.size() - 1, slots);
  }

  std::string print(const Guard& guard, const Slots& slots) const {
    return print(database_.schema.primitive(guard.primitive).name, guard.inputs.data(),
                 guard.inputs.size(), slots);
  }

  // --- the outcome ----------------------------------------------------------------------------

  void tell(const PartialMatch& match) {
    why_.complete = match.complete;
    size_t atoms = 0;
    for (size_t i = 0; i < match.held; ++i) {
      const QueryStep step = match.steps[i];
      if (step.is_guard) {
        const Guard& guard = query_.guards[step.number];
        const bool has_value = slot_sorts_[guard.output] != database_.schema.unit();
        why_.found.push_back(print(guard, match.slots) +
                             (has_value ? " = " + print(guard.output, match.slots) : ""));
      } else {
        const FunctionId function = query_.atoms[step.number].function;
        why_.found.push_back(terms_.print_row(function, match.rows[atoms++]));
      }
    }
    for (const auto& [name, binding] : rule_.variables) {
      if (name == kRewriteRoot || !match.slots[binding.slot]) continue;
      why_.bindings.emplace_back(name, print(binding.slot, match.slots));
    }
    if (match.is_match()) return tell_match(match);
    if (!tell_presets(match)) {
      const QueryStep step = match.steps[match.held];
      step.is_guard ? tell_guard(query_.guards[step.number], match.slots)
                    : tell_atom(query_.atoms[step.number], match.slots);
    }
  }

  void tell_match(const PartialMatch& match) {
    why_.outcome = WhyNot::Outcome::Matches;
    bool is_new = rule_.searched_until == 0;
    size_t atoms = 0;
    for (const QueryStep& step : match.steps) {
      if (step.is_guard) continue;
      const Table& table = database_.table(query_.atoms[step.number].function);
      if (match.rows[atoms++] >= table.first_row_since(rule_.searched_until)) is_new = true;
    }
    why_.detail = rule_.searched_until == 0 ? "the rule wasn't run yet"
                  : is_new                  ? "the rule wasn't run since these facts last changed"
                                            : "the rule was applied to it";
  }

  // Handles constants and globals of the rule that exclude the term before any row is read.
  bool tell_presets(const PartialMatch& match) {
    const auto value_of = [&](const Preset& preset) {
      return preset.global == Value::kNone ? preset.value : database_.globals[preset.global].value;
    };
    for (const Preset& preset : query_.presets) {
      if (preset.slot != chosen_ || value_of(preset) == *match.slots[chosen_]) continue;
      why_.outcome = WhyNot::Outcome::MissingFact;
      why_.subject = terms_.print(value_of(preset), slot_sorts_[chosen_]);
      why_.detail = "is what the rule asks for";
      return true;
    }
    for (auto [a, b] : query_.equal_presets) {
      if (match.slots[a] == match.slots[b]) continue;
      why_.outcome = WhyNot::Outcome::MissingFact;
      why_.subject = "(= " + print(a, match.slots) + " " + print(b, match.slots) + ")";
      why_.detail = "doesn't hold";
      return true;
    }
    return false;
  }

  void tell_guard(const Guard& guard, const Slots& slots) {
    why_.outcome = WhyNot::Outcome::FailedGuard;
    why_.subject = print(guard, slots);
    std::vector<Value> arguments;
    for (uint32_t input : guard.inputs) arguments.push_back(*slots[input]);
    const Primitive& primitive = database_.schema.primitive(guard.primitive);
    const std::optional<Value> result = primitive.run(database_.constants, arguments);
    if (!result) {
      why_.detail = primitive.output == database_.schema.unit() ? "doesn't hold" : "has no result";
      return;
    }
    why_.detail = "is " + terms_.print(*result, primitive.output);
    if (slots[guard.output]) why_.detail += ", not " + print(guard.output, slots);
  }

  void tell_atom(const Atom& atom, const Slots& slots) {
    const Function& function = database_.schema.function(atom.function);
    const uint32_t output = atom.slots.back();
    why_.outcome = WhyNot::Outcome::MissingFact;
    why_.subject = print(atom, slots);
    if (database_.is_equality(function.output) && slots[output]) {
      why_.detail = "isn't in the class of " + print(output, slots);
      list_class(*slots[output], atom.function);
      return;
    }
    const bool holds_or_not = function.kind == FunctionKind::Relation;
    if (function.kind == FunctionKind::Function && slots[output]) {
      why_.subject = "(= " + why_.subject + " " + print(output, slots) + ")";
    }
    why_.detail = holds_or_not ? "doesn't hold" : "isn't there";
    list_rows(atom, slots);
  }

  // --- rows found in place of the missing one -------------------------------------------------

  void list(FunctionId function, uint32_t row) {
    if (why_.instead.size() < kMostInstead) {
      why_.instead.push_back(terms_.print_row(function, row));
    } else {
      ++why_.instead_left_out;
    }
  }

  // Lists the terms of a class, those of the wanted function first.
  void list_class(Value id, FunctionId wanted) {
    for (const bool first : {true, false}) {
      for (uint32_t f = 0; f < database_.functions(); ++f) {
        if ((FunctionId{f} == wanted) != first) continue;
        const Function& function = database_.schema.function(FunctionId{f});
        if (!database_.is_equality(function.output)) continue;
        const Table& table = database_.table(FunctionId{f});
        for (uint32_t row = 0; row < table.rows(); ++row) {
          if (table.alive(row) && table.output(row) == id.value) list(FunctionId{f}, row);
        }
      }
    }
  }

  // Lists the rows of the function that agree with most of the bound slots.
  void list_rows(const Atom& atom, const Slots& slots) {
    const Table& table = database_.table(atom.function);
    size_t most = 0;
    std::vector<uint32_t> nearest;
    for (uint32_t row = 0; row < table.rows(); ++row) {
      if (!table.alive(row)) continue;
      size_t agree = 0;
      for (size_t i = 0; i < atom.slots.size(); ++i) {
        const std::optional<Value>& slot = slots[atom.slots[i]];
        if (slot && slot->value == table.row(row)[i]) ++agree;
      }
      if (agree > most) nearest.clear();
      most = std::max(most, agree);
      if (agree == most) nearest.push_back(row);
    }
    for (uint32_t row : nearest) list(atom.function, row);
    if (table.live() == 0) {
      why_.detail += ": '" + database_.schema.function(atom.function).name + "' is empty";
    }
  }

  Database& database_;
  const Rule& rule_;
  const Query& query_;
  TermText terms_;
  std::vector<SortId> slot_sorts_;
  std::vector<std::string> slot_names_;  // empty for unnamed slots
  uint32_t chosen_ = 0;                  // the slot bound to the term
  WhyNot why_;
};

std::string_view without_outer_blanks(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

struct Question {
  RuleId rule;
  std::string_view rest;
};

// Rule names may contain any text, even " at ": the first split that yields a rule's name wins.
Question split_question(const Engine& engine, std::string_view question) {
  constexpr std::string_view kAt = " at ";
  size_t at = question.find(kAt);
  if (at == std::string_view::npos) {
    throw UserError("'" + std::string(question) + "' is not a question; ask 'RULE at TERM'");
  }
  const std::string asked(unquoted(without_outer_blanks(question.substr(0, at))));
  for (; at != std::string_view::npos; at = question.find(kAt, at + 1)) {
    const auto found =
        engine.rule_names.find(unquoted(without_outer_blanks(question.substr(0, at))));
    if (found == engine.rule_names.end()) continue;
    return {found->second, without_outer_blanks(question.substr(at + kAt.size()))};
  }
  std::string some;
  constexpr size_t kMostNamed = 8;
  for (size_t i = 0; i < engine.rules.size() && i < kMostNamed; ++i) {
    some += (i == 0 ? "; known: '" : ", '") + engine.rules[i].name + "'";
  }
  if (engine.rules.size() > kMostNamed) {
    some += " and " + std::to_string(engine.rules.size() - kMostNamed) + " more";
  }
  throw UserError("there is no rule '" + asked + "'" + some);
}

}  // namespace

std::string WhyNot::text() const {
  if (outcome == Outcome::NoTerm)
    return term + " isn't in the e-graph: there is no " + subject + "\n";
  const bool matches = outcome == Outcome::Matches;
  std::string out = "rule '" + rule + "' " + (matches ? "matches " : "doesn't match ") + term;
  if (matches || outcome == Outcome::NothingFits) out += ": " + detail;
  out += "\n";
  for (const std::string& fact : found) out += "  found    " + fact + "\n";
  if (!subject.empty()) {
    out += (outcome == Outcome::FailedGuard ? "  failed   " : "  missing  ") + subject + " " +
           detail + "\n";
  }
  for (const std::string& other : instead) out += "  instead  " + other + "\n";
  if (instead_left_out > 0) {
    out += "           and " + std::to_string(instead_left_out) + " more\n";
  }
  for (const auto& [name, value] : bindings) out += "  with     " + name + " = " + value + "\n";
  if (!complete) {
    out +=
        "  cut short: too many ways to try; say which variable is meant, RULE at VARIABLE=TERM\n";
  }
  return out;
}

WhyNot why_not(Engine& engine, RuleId rule, Value value, SortId sort, std::string_view variable) {
  rebuild(engine.database);
  return MismatchFinder(engine, rule)
      .explain(engine.database.canonical(value, sort), sort, variable);
}

WhyNot why_not(Engine& engine, std::string_view question) {
  rebuild(engine.database);
  const Question asked = split_question(engine, question);
  std::string_view variable, term = asked.rest;
  // A variable ends before the first bracket, quote or blank; a `=` after that belongs to the term.
  const size_t equals = term.find('=');
  if (equals != std::string_view::npos && equals > 0 &&
      term.substr(0, equals).find_first_of("(\" \t\n") == std::string_view::npos) {
    variable = term.substr(0, equals);
    term = without_outer_blanks(term.substr(equals + 1));
  }
  const TermLookup found = look_up_term(engine, term, "term");
  WhyNot why;
  if (found.value) {
    why = why_not(engine, asked.rule, *found.value, found.sort, variable);
    why.term = std::string(term);  // as the caller wrote it, not the cheapest of its class
    return why;
  }
  why.rule = engine.rule(asked.rule).name;
  why.term = std::string(term);
  why.subject = found.missing;
  return why;
}

}  // namespace luminal::egraph
