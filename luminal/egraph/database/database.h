// Database: tables, classes and constants, and the changes made to them between rebuilds.
#pragma once

#include "luminal/egraph/constants.h"
#include "luminal/egraph/database/proof_log.h"
#include "luminal/egraph/database/rule.h"
#include "luminal/egraph/database/table.h"
#include "luminal/egraph/schema.h"
#include "luminal/egraph/union_find.h"
#include "luminal/egraph/value.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace luminal::egraph {

// A name for a value, given by `let` outside of rules.
struct Global {
  std::string name;
  SortId sort;
  Value value;              // canonical after a rebuild
  uint32_t changed_at = 0;  // the time of the last rebuild that changed it
};

// Registers of the actions of several matches, stored match by match.
struct RegisterBatch {
  static constexpr size_t kMost = 64;

  Value* values;
  size_t stride;
  size_t count;
  ProofFrameScope* proof = nullptr;  // null without a proof log
};

// Monotonic counters of changes: subtract two states to see what happened in between. Operations
// that change nothing aren't counted.
struct ChangeCounts {
  uint64_t added = 0;    // rows with new arguments
  uint64_t updated = 0;  // rows whose value a merge changed
  uint64_t removed = 0;
  uint64_t subsumed = 0;
  uint64_t unions = 0;  // of distinct classes, including congruence

  uint64_t total() const { return added + updated + removed + subsumed + unions; }
};

class Database {
 public:
  // Rebuilding is the caller's business: between rebuilds, rows may mention displaced ids, and two
  // rows may be congruent.
  Schema schema;
  Constants constants;
  std::vector<Global> globals;
  std::vector<std::string> rule_names{"initial"};  // by RuleId

  Database();

  FunctionId add_function(Function function, Merge merge);
  // Also adds the sort's primitives. UserError if the name is taken.
  SortId add_container_sort(const std::string& name, ContainerKind kind,
                            std::vector<SortId> elements);

  Table& table(FunctionId id) { return tables_[id.index()]; }
  const Table& table(FunctionId id) const { return tables_[id.index()]; }
  const Merge& merge(FunctionId id) const { return merges_[id.index()]; }
  size_t functions() const { return tables_.size(); }
  const UnionFind& ids() const { return ids_; }
  UnionFind& ids() { return ids_; }
  SortId sort_of(Value id) const { return SortId{id_sorts_[id.index()]}; }
  // The rule whose union displaced this value, directly or by congruence; for a container, the
  // union that displaced an id inside. The value must not be canonical.
  RuleId displaced_by(Value value, SortId sort) const {
    const Value id = is_equality(sort) ? value : constants.containers.displaced_id(sort, value);
    return displaced_by_[id.index()];
  }

  // The root of an id, the canonical form of a container; any other value is returned unchanged.
  Value canonical(Value value, SortId sort) {
    if (is_equality(sort)) return Value{ids_.find(value.value)};
    return is_container(sort) ? constants.containers.canonical(sort, value) : value;
  }
  Value canonical(Value value, SortId sort) const {
    if (is_equality(sort)) return Value{ids_.find(value.value)};
    return is_container(sort) ? constants.containers.canonical(sort, value) : value;
  }
  bool is_container(SortId sort) const { return schema.sort(sort).kind == SortKind::Container; }
  // Whether a union can make values of this sort stale.
  bool holds_ids(SortId sort) const {
    return is_equality(sort) || constants.containers.holds_ids(sort);
  }
  // Visits the ids inside a container, at any depth.
  template <typename Visit>
  void for_each_id(Value value, SortId sort, const Visit& visit) const {
    if (is_equality(sort)) return visit(value);
    if (!holds_ids(sort)) return;
    const Containers& containers = constants.containers;
    for (size_t i = 0; const Value item : containers.items(sort, value)) {
      for_each_id(item, containers.item_sort(sort, i++), visit);
    }
  }
  bool is_equality(SortId sort) const { return schema.is_equality(sort); }

  // The value of a constructor or relation at these arguments; adds the row if there is none.
  Value add(FunctionId function, std::span<const Value> arguments);
  // Batched `add`: reads the registers `inputs` of each match and writes its `target`. Prefetches
  // the hash slots of the whole batch first, so that cache misses overlap.
  void add(FunctionId function, std::span<const uint32_t> inputs, uint32_t target,
           RegisterBatch batch);
  std::optional<Value> lookup(FunctionId function, std::span<const Value> arguments) const;
  // The row at these arguments, or kNoRow.
  uint32_t row_of(FunctionId function, std::span<const Value> arguments) const;
  // Runs the function's merge if there already is a value.
  void set(FunctionId function, std::span<const Value> arguments, Value value);
  void unite(Value a, Value b);
  void remove(FunctionId function, std::span<const Value> arguments);
  // Hides a row from queries and extraction from now on; congruence and lookups still see it. Adds
  // the row of a constructor or relation first if it is missing.
  void subsume(FunctionId function, std::span<const Value> arguments);
  // Replaces a row by its canonical form; merges with the row that already has these arguments.
  void canonicalize_row(FunctionId function, uint32_t row);
  // Prefetches what `canonicalize_row` reads.
  void prefetch_row(FunctionId function, uint32_t row) const;

  // The rule that changes are attributed to from now on.
  RuleId cause = kInitial;
  // Input of `explain`. Only set on request, before anything is added.
  std::optional<ProofLog> proofs;
  uint32_t clock = 1;  // the time stamp of new rows
  ChangeCounts counts;
  // Bytes of tables, indexes and classes.
  size_t bytes() const;
  // Live rows of all tables; classes that weren't merged into another.
  size_t tuples() const { return tuples_; }
  size_t classes() const { return classes_; }
  // The time of the last new or changed row of any table.
  uint32_t last_time() const { return last_time_; }
  // Records that a global's value changed: rules that use it then see all rows as new.
  void note_changed_global(Global& global) { last_time_ = global.changed_at = clock; }

  // Prints a literal of the language; `#7` for a class.
  std::string print(Value value, SortId sort) const;

 private:
  // A sort id takes 16 bits.
  static constexpr size_t kMaxSorts = 0xffff;

  // Bit masks of the columns of a function that unions can make stale.
  struct Columns {
    uint64_t ids = 0;
    uint64_t containers = 0;
  };

  uint32_t canonical(FunctionId function, size_t column, uint32_t value) {
    if ((columns_[function.index()].ids >> column & 1) != 0) return ids_.find(value);
    return std::as_const(*this).canonical(function, column, value);
  }
  uint32_t canonical(FunctionId function, size_t column, uint32_t value) const {
    const Columns columns = columns_[function.index()];
    if ((columns.ids >> column & 1) != 0) return ids_.find(value);
    if ((columns.containers >> column & 1) == 0) return value;
    return constants.containers.canonical(sort_of_column(function, column), Value{value}).value;
  }
  SortId sort_of_column(FunctionId function, size_t column) const {
    const Function& declared = schema.function(function);
    return column < declared.inputs.size() ? declared.inputs[column] : declared.output;
  }
  // Canonicalises the arguments into `key`; returns the row with that key, or kNoRow.
  uint32_t find_row(FunctionId function, std::span<const Value> arguments, uint32_t* key) const;
  Value make_id(SortId sort);
  uint32_t append(FunctionId function, const uint32_t* row, uint32_t mark);
  void kill(FunctionId function, uint32_t row);
  // What is merged into a row: values passed to `set`, or another row with its fact.
  struct Incoming {
    std::span<const Value> arguments = {};
    Value value;
    uint32_t fact = kNoFact;
  };
  void merge_into(FunctionId function, uint32_t row, const Incoming& incoming);
  Value merged(FunctionId function, uint32_t row, Value old_value, Value new_value,
               ProofOrigin* origin);
  void join_classes(Value a, Value b);
  // Logs a row that was just appended.
  void log_row(FunctionId function, uint32_t row, std::span<const Value> arguments, Value value);
  void log_batch_row(FunctionId function, uint32_t row, uint32_t target, size_t match,
                     RegisterBatch batch);
  std::string print_container(Value value, SortId sort) const;
  [[noreturn]] void fail_conflict(FunctionId function, uint32_t row, Value old_value,
                                  Value new_value) const;

  std::vector<Table> tables_;  // by FunctionId
  std::vector<Merge> merges_;
  std::vector<Columns> columns_;  // by FunctionId
  UnionFind ids_;
  GrowArray<uint16_t> id_sorts_;
  GrowArray<RuleId> displaced_by_;
  std::vector<uint32_t> keys_;  // of a batch
  size_t tuples_ = 0;
  size_t classes_ = 0;
  uint32_t last_time_ = 0;
};

}  // namespace luminal::egraph
