#include "luminal/egraph/match.h"

#include <algorithm>
#include <array>
#include <utility>

namespace luminal::egraph {
namespace {

struct RowRange {
  size_t first = 0;
  size_t end = 0;
};

// One run of one plan: nested loops, one level per atom.
class Search {
 public:
  Search(Database& database, const Query& query, const Plan& plan,
         const std::vector<uint32_t>& kept, std::span<const RowRange> ranges,
         const SearchLimits& limits, Matches& matches)
      : database_(database),
        query_(query),
        plan_(plan),
        kept_(kept),
        ranges_(ranges),
        limits_(limits),
        matches_(matches),
        slots_(query.slots) {
    for (const AtomStep& step : plan.steps) {
      Table& table = database.table(query.atoms[step.atom].function);
      tables_.push_back(&table);
      indexes_.push_back(step.access == AtomStep::Access::Index ? &table.index(step.mask)
                                                                : nullptr);
    }
  }

  SearchEnd run() {
    for (const Preset& preset : query_.presets) {
      slots_[preset.slot] =
          preset.global == Value::kNone ? preset.value : database_.globals[preset.global].value;
    }
    for (auto [a, b] : query_.equal_presets) {
      if (slots_[a] != slots_[b]) return SearchEnd::Done;
    }
    if (guards_hold(plan_.guards)) descend(0);
    matches_.candidates += candidates_;
    return end_;
  }

 private:
  // Returns false when the search is to stop.
  bool descend(size_t level) {
    if (level == plan_.steps.size()) return emit();
    const AtomStep& step = plan_.steps[level];
    const RowRange range = ranges_[step.atom];
    const Table& table = *tables_[level];
    std::array<uint32_t, Schema::kMaxInputs + 1> key;
    for (size_t i = 0; i < step.key.size(); ++i) key[i] = slots_[step.key[i]].value;
    const std::span<const uint32_t> key_span(key.data(), step.key.size());
    switch (step.access) {
      case AtomStep::Access::Scan:
        for (size_t row = range.first; row < range.end; ++row) {
          if (table.alive(row) && !try_row(level, table.row(row))) return false;
        }
        return true;
      case AtomStep::Access::Key: {
        const uint32_t row = table.find(key_span);
        if (row == kNoRow || row < range.first || row >= range.end) return true;
        return try_row(level, table.row(row));
      }
      case AtomStep::Access::Index: {
        const ColumnIndex& index = *indexes_[level];
        for (uint32_t row = index.first(key_span, table.data()); row < range.end;
             row = index.next(row)) {
          if (row < range.first || !table.alive(row)) continue;
          if (!try_row(level, table.row(row))) return false;
        }
        return true;
      }
    }
    return true;
  }

  bool try_row(size_t level, const uint32_t* row) {
    if ((++candidates_ & 0xfff) == 0 && Clock::now() > limits_.deadline) {
      end_ = SearchEnd::TimeLimit;
      return false;
    }
    const AtomStep& step = plan_.steps[level];
    for (const ColumnStep& column : step.columns) {
      if (column.binds) {
        slots_[column.slot] = Value{row[column.column]};
      } else if (slots_[column.slot].value != row[column.column]) {
        return true;
      }
    }
    if (!guards_hold(step.guards)) return true;
    return descend(level + 1);
  }

  bool guards_hold(std::span<const GuardStep> steps) {
    std::array<Value, Schema::kMaxInputs> arguments;
    for (const GuardStep& step : steps) {
      const Guard& guard = query_.guards[step.guard];
      for (size_t i = 0; i < guard.inputs.size(); ++i) arguments[i] = slots_[guard.inputs[i]];
      const std::optional<Value> result =
          database_.schema.primitive(guard.primitive)
              .run(database_.constants, {arguments.data(), guard.inputs.size()});
      if (!result) return false;
      if (guard.must_be_true && !Constants::is_true(*result)) return false;
      if (step.binds) {
        slots_[guard.output] = *result;
      } else if (slots_[guard.output] != *result) {
        return false;
      }
    }
    return true;
  }

  bool emit() {
    if (matches_.count == limits_.matches) {
      end_ = SearchEnd::MatchLimit;
      return false;
    }
    ++matches_.count;
    for (uint32_t slot : kept_) matches_.values.push_back(slots_[slot]);
    return true;
  }

  Database& database_;
  const Query& query_;
  const Plan& plan_;
  const std::vector<uint32_t>& kept_;
  std::span<const RowRange> ranges_;
  const SearchLimits& limits_;
  Matches& matches_;
  std::vector<Value> slots_;
  std::vector<const Table*> tables_;         // by level
  std::vector<const ColumnIndex*> indexes_;  // by level; null where the access needs none
  uint64_t candidates_ = 0;
  SearchEnd end_ = SearchEnd::Done;
};

}  // namespace

Matcher::Matcher(Query query, std::vector<uint32_t> kept)
    : query_(std::move(query)), kept_(std::move(kept)), plans_(query_.atoms.size() + 1) {}

SearchEnd Matcher::find(Database& database, uint32_t since, const SearchLimits& limits,
                        Matches& matches) {
  const size_t atoms = query_.atoms.size();
  std::vector<RowRange> all(atoms);
  for (size_t i = 0; i < atoms; ++i) {
    const Table& table = database.table(query_.atoms[i].function);
    if (table.live() == 0) return SearchEnd::Done;
    all[i] = {.first = 0, .end = table.rows()};
  }
  const auto search = [&](uint32_t focus, std::span<const RowRange> ranges) {
    Plan& plan = plans_[focus == kNoFocus ? atoms : focus];
    if (plan.steps.empty() || is_outdated(plan, database, query_)) {
      plan = make_plan(database, query_, focus);
    }
    return Search(database, query_, plan, kept_, ranges, limits, matches).run();
  };
  if (since == 0 || uses_changed_global(database, since)) return search(kNoFocus, all);

  // A match is found with its first new row as the focus: before it old rows, after it any.
  std::vector<RowRange> ranges = all;
  for (uint32_t focus = 0; focus < atoms; ++focus) {
    const Table& table = database.table(query_.atoms[focus].function);
    const size_t first_new = table.first_row_since(since);
    if (first_new < all[focus].end) {
      ranges[focus] = {.first = first_new, .end = all[focus].end};
      if (const SearchEnd end = search(focus, ranges); end != SearchEnd::Done) return end;
    }
    ranges[focus] = {.first = 0, .end = first_new};
    if (first_new == 0) break;  // this atom has no old rows, so no later atom can be the first
  }
  return SearchEnd::Done;
}

bool Matcher::has_news(const Database& database, uint32_t since) const {
  if (since == 0) return true;
  for (const Atom& atom : query_.atoms) {
    if (database.table(atom.function).last_time() >= since) return true;
  }
  return uses_changed_global(database, since);
}

bool Matcher::uses_changed_global(const Database& database, uint32_t since) const {
  return std::any_of(query_.presets.begin(), query_.presets.end(), [&](const Preset& preset) {
    return preset.global != Value::kNone && database.globals[preset.global].changed_at >= since;
  });
}

}  // namespace luminal::egraph
