#include "luminal/egraph/saturate/plan.h"

#include "luminal/base/check.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace luminal::egraph {
namespace {

class Planner {
 public:
  Planner(Database& database, const Query& query)
      : database_(database), query_(query), bound_(query.slots), guard_done_(query.guards.size()) {
    for (const Preset& preset : query.presets) bound_[preset.slot] = true;
    reached_.resize(query.slots);
  }

  Plan make(uint32_t focus) {
    take_guards(plan_.guards);
    for (uint32_t atom = 0; atom < query_.atoms.size(); ++atom) left_.push_back(atom);
    if (focus != kNoFocus) {
      std::erase(left_, focus);
      take_known_rows();
      take(focus, true);
    }
    while (!left_.empty()) {
      take_left(best_left());
    }
    LUMINAL_CHECK(
        std::all_of(guard_done_.begin(), guard_done_.end(), [](bool done) { return done; }),
        "a primitive of a query never gets its arguments");
    return std::move(plan_);
  }

 private:
  // The atom with the fewest expected rows. An atom that shares no slot with those joined so far
  // would be a cross product instead of a filter, so it waits, unless it has at most one row.
  size_t best_left() const {
    size_t best = 0;
    double fewest = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < left_.size(); ++i) {
      const Atom& atom = query_.atoms[left_[i]];
      constexpr double kWaits = 1e6;
      double rows = expected_rows(atom);
      if (rows > 1 && !is_connected(atom)) rows *= kWaits;
      if (rows >= fewest) continue;
      fewest = rows;
      best = i;
    }
    return best;
  }

  bool is_connected(const Atom& atom) const {
    return std::any_of(atom.slots.begin(), atom.slots.end(),
                       [&](uint32_t slot) { return reached_[slot]; });
  }

  // Atoms whose arguments are all bound come first: if the row is missing, the search ends at once.
  void take_known_rows() {
    for (size_t i = 0; i < left_.size();) {
      const Atom& atom = query_.atoms[left_[i]];
      const uint64_t inputs = inputs_mask(atom);
      if ((bound_mask(atom) & inputs) == inputs) {
        take_left(i);
        i = 0;
      } else {
        ++i;
      }
    }
  }

  void take_left(size_t i) {
    const uint32_t atom = left_[i];
    left_.erase(left_.begin() + static_cast<ptrdiff_t>(i));
    take(atom, false);
  }

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

  double expected_rows(const Atom& atom) const {
    Table& table = database_.table(atom.function);
    const uint64_t mask = bound_mask(atom), inputs = inputs_mask(atom);
    if ((mask & inputs) == inputs) return mask == inputs ? 0.5 : 0.1;
    if (mask == 0) return static_cast<double>(table.live());
    return table.rows_per_key(mask);
  }

  // The columns to look up by: all bound ones, or a single one that is about as selective. Fewer
  // distinct indexes then serve more rules.
  static uint64_t choose_index(Table& table, uint64_t mask) {
    if (table.has_index(mask)) return mask;
    const double all = table.rows_per_key(mask);
    uint64_t best = mask;
    double fewest = 2 * all + 2;
    for (size_t i = 0; i < table.width(); ++i) {
      const uint64_t one = uint64_t{1} << i;
      if ((mask & one) == 0) continue;
      // An existing index may find a few rows more.
      const double rows = table.rows_per_key(one) * (table.has_index(one) ? 0.7 : 1);
      if (rows >= fewest) continue;
      fewest = rows;
      best = one;
    }
    return best;
  }

  void take(uint32_t number, bool scan) {
    const Atom& atom = query_.atoms[number];
    const uint64_t mask = bound_mask(atom), inputs = inputs_mask(atom);
    const bool known = !scan && !is_connected(atom) && (mask & inputs) == inputs;
    AtomStep step{.atom = number};
    uint64_t looked_up = 0;
    if (!scan && (mask & inputs) == inputs) {
      step.access = AtomStep::Access::Key;
      looked_up = inputs;
    } else if (!scan && mask != 0) {
      step.access = AtomStep::Access::Index;
      step.mask = choose_index(database_.table(atom.function), mask);
      looked_up = step.mask;
    }
    // Comparisons, which can fail, come before copies.
    for (uint32_t i = 0; i < atom.slots.size(); ++i) {
      if (looked_up >> i & 1) {
        step.key.push_back(atom.slots[i]);
      } else if (mask >> i & 1) {
        step.columns.push_back({.column = i, .slot = atom.slots[i], .binds = false});
      }
    }
    for (uint32_t i = 0; i < atom.slots.size(); ++i) {
      const uint32_t slot = atom.slots[i];
      if (mask >> i & 1) continue;
      step.columns.push_back({.column = i, .slot = slot, .binds = !bound_[slot]});
      bound_[slot] = true;
      if (!known) reached_[slot] = true;
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
        if (std::any_of(guard.inputs.begin(), guard.inputs.end(),
                        [&](uint32_t slot) { return reached_[slot]; })) {
          reached_[guard.output] = true;
        }
        guard_done_[i] = true;
        progress = true;
      }
    }
  }

  Database& database_;
  const Query& query_;
  std::vector<uint32_t> left_;  // atoms not joined yet
  std::vector<bool> bound_;     // by slot
  std::vector<bool> reached_;   // by slot: bound by more than constants
  std::vector<bool> guard_done_;
  Plan plan_;
};

}  // namespace

Plan make_plan(Database& database, const Query& query, uint32_t focus) {
  return Planner(database, query).make(focus);
}

}  // namespace luminal::egraph
