#include "luminal/egraph/plan.h"

#include "luminal/base/check.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace luminal::egraph {
namespace {

uint8_t size_bits(const Database& database, const Atom& atom) {
  return static_cast<uint8_t>(std::bit_width(database.table(atom.function).live()));
}

class Planner {
 public:
  Planner(const Database& database, const Query& query)
      : database_(database), query_(query), bound_(query.slots), guard_done_(query.guards.size()) {
    for (const Preset& preset : query.presets) bound_[preset.slot] = true;
    for (const Atom& atom : query.atoms) plan_.sizes.push_back(size_bits(database, atom));
  }

  Plan make(uint32_t focus) {
    take_guards(plan_.guards);
    std::vector<uint32_t> left;
    for (uint32_t atom = 0; atom < query_.atoms.size(); ++atom) left.push_back(atom);
    if (focus != kNoFocus) {
      std::erase(left, focus);
      take(focus, true);
    }
    while (!left.empty()) {
      const auto next = std::min_element(left.begin(), left.end(), [&](uint32_t a, uint32_t b) {
        return expected_rows(query_.atoms[a]) < expected_rows(query_.atoms[b]);
      });
      const uint32_t atom = *next;
      left.erase(next);
      take(atom, false);
    }
    LUMINAL_CHECK(
        std::all_of(guard_done_.begin(), guard_done_.end(), [](bool done) { return done; }),
        "a primitive of a query never gets its arguments");
    return std::move(plan_);
  }

 private:
  uint64_t bound_mask(const Atom& atom) const {
    uint64_t mask = 0;
    for (size_t i = 0; i < atom.slots.size(); ++i) {
      if (bound_[atom.slots[i]]) mask |= uint64_t{1} << i;
    }
    return mask;
  }

  static uint64_t inputs_mask(const Atom& atom) {
    return (uint64_t{1} << (atom.slots.size() - 1)) - 1;
  }

  // In sixteenths of a row.
  uint64_t expected_rows(const Atom& atom) const {
    const Table& table = database_.table(atom.function);
    const uint64_t mask = bound_mask(atom), inputs = inputs_mask(atom);
    const uint64_t rows = uint64_t{table.live()} * 16;
    if ((mask & inputs) == inputs)
      return (mask >> table.inputs()) != 0 ? 1 : std::min<uint64_t>(rows, 8);
    if (mask == 0) return rows;
    if (const ColumnIndex* index = table.find_index(mask)) {
      return std::max<uint64_t>(rows / std::max<size_t>(index->distinct_keys(), 1), 1);
    }
    // A guess: a bound argument leaves one row in eight, a bound value (a class has few nodes) one
    // in sixteen.
    const int shift = 3 * std::popcount(mask & inputs) + ((mask & ~inputs) != 0 ? 4 : 0);
    return std::max<uint64_t>(shift < 64 ? rows >> shift : 0, 9);
  }

  void take(uint32_t number, bool scan) {
    const Atom& atom = query_.atoms[number];
    const uint64_t mask = bound_mask(atom), inputs = inputs_mask(atom);
    AtomStep step{.atom = number};
    uint64_t looked_up = 0;
    if (!scan && (mask & inputs) == inputs) {
      step.access = AtomStep::Access::Key;
      looked_up = inputs;
    } else if (!scan && mask != 0) {
      step.access = AtomStep::Access::Index;
      step.mask = mask;
      looked_up = mask;
    }
    for (uint32_t i = 0; i < atom.slots.size(); ++i) {
      const uint32_t slot = atom.slots[i];
      if (looked_up >> i & 1) {
        step.key.push_back(slot);
      } else {
        step.columns.push_back({.column = i, .slot = slot, .binds = !bound_[slot]});
        bound_[slot] = true;
      }
    }
    take_guards(step.guards);
    plan_.steps.push_back(std::move(step));
  }

  // Primitives run as soon as their inputs are bound.
  void take_guards(std::vector<GuardStep>& into) {
    for (bool progress = true; progress;) {
      progress = false;
      for (uint32_t i = 0; i < query_.guards.size(); ++i) {
        const Guard& guard = query_.guards[i];
        const bool ready = std::all_of(guard.inputs.begin(), guard.inputs.end(),
                                       [&](uint32_t slot) { return bound_[slot]; });
        if (guard_done_[i] || !ready) continue;
        into.push_back({.guard = i, .binds = !bound_[guard.output]});
        bound_[guard.output] = true;
        guard_done_[i] = true;
        progress = true;
      }
    }
  }

  const Database& database_;
  const Query& query_;
  std::vector<bool> bound_;  // by slot
  std::vector<bool> guard_done_;
  Plan plan_;
};

}  // namespace

Plan make_plan(const Database& database, const Query& query, uint32_t focus) {
  return Planner(database, query).make(focus);
}

bool is_outdated(const Plan& plan, const Database& database, const Query& query) {
  for (size_t i = 0; i < query.atoms.size(); ++i) {
    if (plan.sizes[i] != size_bits(database, query.atoms[i])) return true;
  }
  return false;
}

}  // namespace luminal::egraph
