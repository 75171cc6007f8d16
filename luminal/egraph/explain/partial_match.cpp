#include "luminal/egraph/explain/partial_match.h"

#include <algorithm>

namespace luminal::egraph {
namespace {

bool is_bound(const std::vector<uint32_t>& wanted, const std::vector<std::optional<Value>>& slots) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](uint32_t slot) { return slots[slot].has_value(); });
}

}  // namespace

PartialMatch PartialMatcher::find(uint32_t slot, Value value) {
  Slots slots(query_.slots);
  for (const Preset& preset : query_.presets) {
    slots[preset.slot] =
        preset.global == Value::kNone ? preset.value : database_.globals[preset.global].value;
  }
  best_ = {};
  tried_ = 0;
  rows_.clear();
  const bool is_preset = slots[slot] && *slots[slot] != value;
  slots[slot] = value;
  order_steps(slots);
  best_.slots = slots;
  if (is_preset) return best_;  // the rule requires another value there
  for (auto [a, b] : query_.equal_presets) {
    if (slots[a] != slots[b]) return best_;
  }
  descend(0, slots);
  return best_;
}

// Lower ranks come first: arguments of known terms, then lookups, then atoms that share a variable.
int PartialMatcher::rank(const Atom& atom, const Slots& bound) const {
  const SortId output = database_.schema.function(atom.function).output;
  if (database_.is_equality(output) && bound[atom.slots.back()]) return 0;
  const auto inputs_end = atom.slots.end() - 1;
  const auto known = [&](uint32_t slot) { return bound[slot].has_value(); };
  if (std::all_of(atom.slots.begin(), inputs_end, known)) return 1;
  return std::any_of(atom.slots.begin(), atom.slots.end(), known) ? 2 : 3;
}

void PartialMatcher::order_steps(Slots bound) {
  std::vector<bool> atom_done(query_.atoms.size()), guard_done(query_.guards.size());
  const auto add_guards = [&] {
    for (bool progress = true; progress;) {
      progress = false;
      for (uint32_t g = 0; g < query_.guards.size(); ++g) {
        if (guard_done[g] || !is_bound(query_.guards[g].inputs, bound)) continue;
        guard_done[g] = progress = true;
        bound[query_.guards[g].output] = Value{};
        best_.steps.push_back({.is_guard = true, .number = g});
      }
    }
  };
  add_guards();
  for (size_t placed = 0; placed < query_.atoms.size(); ++placed) {
    uint32_t next = 0;
    int least = 4;
    for (uint32_t a = 0; a < query_.atoms.size(); ++a) {
      if (atom_done[a] || rank(query_.atoms[a], bound) >= least) continue;
      least = rank(query_.atoms[a], bound);
      next = a;
    }
    atom_done[next] = true;
    best_.steps.push_back({.is_guard = false, .number = next});
    for (uint32_t slot : query_.atoms[next].slots) bound[slot] = Value{};
    add_guards();
  }
}

// Returns whether the search is over: a match was found, or the budget is used up.
bool PartialMatcher::descend(size_t level, Slots& slots) {
  if (level > best_.held) {
    best_.held = level;
    best_.slots = slots;
    best_.rows = rows_;
  }
  if (level == best_.steps.size()) return true;
  const QueryStep step = best_.steps[level];
  if (step.is_guard) {
    Slots inner = slots;
    return guard_holds(query_.guards[step.number], inner) && descend(level + 1, inner);
  }
  constexpr uint64_t kMostTried = 1'000'000;
  const Atom& atom = query_.atoms[step.number];
  const Table& table = database_.table(atom.function);
  for (uint32_t row : candidates(atom, slots)) {
    if (++tried_ > kMostTried) {
      best_.complete = false;
      return true;
    }
    Slots inner = slots;
    bool fits = true;
    for (size_t i = 0; i < atom.slots.size() && fits; ++i) {
      std::optional<Value>& slot = inner[atom.slots[i]];
      const Value value{table.row(row)[i]};
      fits = !slot || *slot == value;
      slot = value;
    }
    if (!fits) continue;
    rows_.push_back(row);
    if (descend(level + 1, inner)) return true;
    rows_.pop_back();
  }
  return false;
}

bool PartialMatcher::guard_holds(const Guard& guard, Slots& slots) {
  std::vector<Value> arguments;
  for (uint32_t input : guard.inputs) arguments.push_back(*slots[input]);
  const std::optional<Value> result =
      database_.schema.primitive(guard.primitive).run(database_.constants, arguments);
  if (!result || (guard.must_be_true && !Constants::is_true(*result))) return false;
  if (slots[guard.output] && *slots[guard.output] != *result) return false;
  slots[guard.output] = *result;
  return true;
}

const std::vector<uint32_t>& PartialMatcher::candidates(const Atom& atom, const Slots& slots) {
  std::vector<uint32_t> columns, key;
  for (uint32_t i = 0; i < atom.slots.size(); ++i) {
    if (!slots[atom.slots[i]]) continue;
    columns.push_back(i);
    key.push_back(slots[atom.slots[i]]->value);
  }
  const auto [entry, is_new] = indexes_.try_emplace({atom.function, columns});
  Index& index = entry->second;
  if (is_new) {
    const Table& table = database_.table(atom.function);
    std::vector<uint32_t> row_key(columns.size());
    for (uint32_t row = 0; row < table.rows(); ++row) {
      if (table.subsumed(row)) continue;  // or dead
      for (size_t i = 0; i < columns.size(); ++i) row_key[i] = table.row(row)[columns[i]];
      index[row_key].push_back(row);
    }
  }
  return index[key];
}

}  // namespace luminal::egraph
