#include "luminal/egraph/saturate/match.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace luminal::egraph {
namespace {

struct RowRange {
  size_t first = 0;
  size_t end = 0;
};

// One run of one plan: nested-loop join, one level per atom.
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
        least_skipped_mark_(query.with_subsumed ? kDeadMark : kSubsumedBit),
        matches_(matches) {
    matches.slots.resize(query.slots);
    slots_ = matches.slots.data();
    levels_.resize(plan.steps.size());
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
  // A plan's step with the data it reads; filled when the search first reaches it.
  struct Level {
    const Table* table = nullptr;
    const ColumnIndex* index = nullptr;
    RowData data = {};
    RowRange range = {};
    const uint32_t* row = nullptr;  // of the current match
  };

  const Level& level(size_t number) {
    Level& result = levels_[number];
    if (result.table != nullptr) return result;
    const AtomStep& step = plan_.steps[number];
    Table& table = database_.table(query_.atoms[step.atom].function);
    result.table = &table;
    if (step.access == AtomStep::Access::Index) result.index = &table.index(step.mask);
    result.data = table.data();
    result.range = ranges_[step.atom];
    return result;
  }

  // Returns false if the search must stop.
  bool descend(size_t number) {
    if (number == plan_.steps.size()) return emit();
    const AtomStep& step = plan_.steps[number];
    const Level& at = level(number);
    if (step.access == AtomStep::Access::Scan) return scan(number);
    std::array<uint32_t, Schema::kMaxInputs + 1> key;
    for (size_t i = 0; i < step.key.size(); ++i) key[i] = slots_[step.key[i]].value;
    if (step.access == AtomStep::Access::Key) {
      const uint32_t row = at.table->find(key.data());
      if (row == kNoRow || row < at.range.first || row >= at.range.end) return true;
      return try_row(number, at.data.row(row), at.data.stride);
    }
    for (uint32_t row = at.index->first(key.data(), at.data); row != kNoRow;) {
      if (row < at.range.first) return true;  // newest first: all others are older
      const uint32_t next = at.index->next(row);
      if (next != kNoRow) prefetch(at.data.row(next));
      if (row < at.range.end && !try_row(number, at.data.row(row), at.data.stride)) return false;
      row = next;
    }
    return true;
  }

  bool scan(size_t number) {
    const RowRange range = level(number).range;
    const RowData data = level(number).data;
    const Lookahead ahead = look_ahead(number);
    for (size_t row = range.first; row < range.end; ++row) {
      if (ahead.by != nullptr) {
        if (row + kSlotAhead < range.end) {
          ahead.by->prefetch_slot(hash_ahead(ahead, data.row(row + kSlotAhead)));
        }
        if (row + kRowAhead < range.end) {
          ahead.by->prefetch_row(hash_ahead(ahead, data.row(row + kRowAhead)), ahead.data);
        }
      }
      if (!try_row(number, data.row(row), data.stride)) return false;
    }
    return true;
  }

  // Prefetches, while a long range of rows is scanned, what the next level looks up for a later
  // row.
  struct Lookahead {
    const ColumnIndex* by = nullptr;  // null if the key can't be computed ahead
    RowData data = {};
    size_t parts = 0;
    std::array<uint32_t, 4> columns = {};  // of the scanned row, or kNoColumn
    std::array<uint32_t, 4> values = {};   // used if kNoColumn
  };
  static constexpr uint32_t kNoColumn = 0xffffffffu;
  static constexpr size_t kSlotAhead = 16, kRowAhead = 6, kWorthIt = 256;

  Lookahead look_ahead(size_t number) {
    Lookahead ahead;
    const RowRange range = level(number).range;
    if (range.end - range.first < kWorthIt || number + 1 >= plan_.steps.size()) return ahead;
    const AtomStep& step = plan_.steps[number];
    const AtomStep& next = plan_.steps[number + 1];
    if (next.access != AtomStep::Access::Index || next.key.size() > ahead.columns.size()) {
      return ahead;
    }
    for (const GuardStep& guard : step.guards) {
      if (guard.binds) return ahead;
    }
    ahead.parts = next.key.size();
    for (size_t i = 0; i < next.key.size(); ++i) {
      ahead.columns[i] = kNoColumn;
      ahead.values[i] = slots_[next.key[i]].value;
      for (const ColumnStep& column : step.columns) {
        if (column.slot == next.key[i] && column.binds) ahead.columns[i] = column.column;
      }
    }
    ahead.by = level(number + 1).index;
    ahead.data = level(number + 1).data;
    return ahead;
  }

  static uint32_t hash_ahead(const Lookahead& ahead, const uint32_t* row) {
    std::array<uint32_t, 4> key;
    for (size_t i = 0; i < ahead.parts; ++i) {
      key[i] = ahead.columns[i] == kNoColumn ? ahead.values[i] : row[ahead.columns[i]];
    }
    return hash_values(key.data(), ahead.parts);
  }

  bool try_row(size_t number, const uint32_t* row, size_t stride) {
    if (row[stride - 1] >= least_skipped_mark_) return true;
    if ((++candidates_ & 0xfff) == 0 && Clock::now() > limits_.deadline) {
      end_ = SearchEnd::TimeLimit;
      return false;
    }
    const AtomStep& step = plan_.steps[number];
    for (const ColumnStep& column : step.columns) {
      if (column.binds) {
        slots_[column.slot] = Value{row[column.column]};
      } else if (slots_[column.slot].value != row[column.column]) {
        return true;
      }
    }
    if (!step.guards.empty() && !guards_hold(step.guards)) return true;
    levels_[number].row = row;
    return descend(number + 1);
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
    Value* match = matches_.values.extend(kept_.size());
    for (size_t i = 0; i < kept_.size(); ++i) match[i] = slots_[kept_[i]];
    if (database_.proofs) emit_rows();
    return true;
  }

  void emit_rows() {
    uint32_t* rows = matches_.rows.extend(query_.atoms.size());
    for (size_t i = 0; i < levels_.size(); ++i) {
      const Level& at = levels_[i];
      rows[plan_.steps[i].atom] =
          static_cast<uint32_t>(static_cast<size_t>(at.row - at.data.row(0)) / at.data.stride);
    }
  }

  Database& database_;
  const Query& query_;
  const Plan& plan_;
  const std::vector<uint32_t>& kept_;
  std::span<const RowRange> ranges_;
  const SearchLimits& limits_;
  const uint32_t least_skipped_mark_;
  Matches& matches_;
  Value* slots_;
  std::vector<Level> levels_;
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
  drop_outdated_plans(database);
  const auto search = [&](uint32_t focus, std::span<const RowRange> ranges) {
    Plan& plan = plans_[focus == kNoFocus ? atoms : focus];
    if (plan.steps.empty()) plan = make_plan(database, query_, focus);
    return Search(database, query_, plan, kept_, ranges, limits, matches).run();
  };
  if (since == 0 || uses_changed_global(database, since)) return search(kNoFocus, all);

  // Semi-naive: each match is found once, with its first new row as the focus; atoms before it read
  // old rows only, atoms after it read all.
  std::vector<RowRange> ranges = all;
  for (uint32_t focus = 0; focus < atoms; ++focus) {
    const Table& table = database.table(query_.atoms[focus].function);
    const size_t first_new = table.first_row_since(since);
    if (first_new < all[focus].end) {
      ranges[focus] = {.first = first_new, .end = all[focus].end};
      if (const SearchEnd end = search(focus, ranges); end != SearchEnd::Done) return end;
    }
    ranges[focus] = {.first = 0, .end = first_new};
    if (first_new == 0) break;  // no old rows here, so no later atom can have the first new row
  }
  return SearchEnd::Done;
}

void Matcher::drop_outdated_plans(const Database& database) {
  bool outdated = false;
  size_bits_.resize(query_.atoms.size());
  for (size_t i = 0; i < query_.atoms.size(); ++i) {
    const size_t live = database.table(query_.atoms[i].function).live();
    const uint8_t bits = static_cast<uint8_t>(std::bit_width(live));
    outdated |= bits != size_bits_[i];
    size_bits_[i] = bits;
  }
  if (!outdated) return;
  for (Plan& plan : plans_) plan = {};
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
