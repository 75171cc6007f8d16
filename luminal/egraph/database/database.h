// Database: tables, classes and constants, and the changes one can make to them between rebuilds.
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

// Registers of the actions of many matches, one match after the other.
struct RegisterBatch {
  static constexpr size_t kMost = 64;

  Value* values;
  size_t stride;
  size_t count;
  ProofFrameScope* proof = nullptr;  // where there is a log of proofs
};

// Counts changes, so that a difference says whether and how much happened. What changed nothing
// isn't counted.
struct ChangeCounts {
  uint64_t added = 0;    // rows with new arguments
  uint64_t updated = 0;  // rows whose value a merge changed
  uint64_t removed = 0;
  uint64_t subsumed = 0;
  uint64_t unions = 0;  // of different classes, congruence included

  uint64_t total() const { return added + updated + removed + subsumed + unions; }
};

class Database {
 public:
  // Whether a rebuild keeps the rows canonical is the caller's business: between rebuilds rows may
  // mention displaced ids, and congruent rows may be two.
  Schema schema;
  Constants constants;
  std::vector<Global> globals;
  std::vector<std::string> rule_names{"initial"};  // by RuleId

  Database();

  FunctionId add_function(Function function, Merge merge);
  // With its primitives. UserError where the name is taken.
  SortId add_container_sort(const std::string& name, ContainerKind kind,
                            std::vector<SortId> elements);

  Table& table(FunctionId id) { return tables_[id.index()]; }
  const Table& table(FunctionId id) const { return tables_[id.index()]; }
  const Merge& merge(FunctionId id) const { return merges_[id.index()]; }
  size_t functions() const { return tables_.size(); }
  const UnionFind& ids() const { return ids_; }
  UnionFind& ids() { return ids_; }
  SortId sort_of(Value id) const { return SortId{id_sorts_[id.index()]}; }
  // The rule whose union displaced an id, by itself or by congruence, or an id inside of a
  // container. Of what isn't canonical any more.
  RuleId displaced_by(Value value, SortId sort) const {
    const Value id = is_equality(sort) ? value : constants.containers.displaced_id(sort, value);
    return displaced_by_[id.index()];
  }

  // The root of an equality sort's value, what a container was forwarded to, and any other value
  // as it is.
  Value canonical(Value value, SortId sort) {
    if (is_equality(sort)) return Value{ids_.find(value.value)};
    return is_container(sort) ? constants.containers.canonical(sort, value) : value;
  }
  Value canonical(Value value, SortId sort) const {
    if (is_equality(sort)) return Value{ids_.find(value.value)};
    return is_container(sort) ? constants.containers.canonical(sort, value) : value;
  }
  bool is_container(SortId sort) const { return schema.sort(sort).kind == SortKind::Container; }
  // Whether unions can make values of this sort stale.
  bool holds_ids(SortId sort) const {
    return is_equality(sort) || constants.containers.holds_ids(sort);
  }
  // The ids inside of a container, at any depth.
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
  // The same for many: the value at the `inputs` of each goes to its `target`. The memory that the
  // look-ups of a batch miss is fetched for all of them at once.
  void add(FunctionId function, std::span<const uint32_t> inputs, uint32_t target,
           RegisterBatch batch);
  std::optional<Value> lookup(FunctionId function, std::span<const Value> arguments) const;
  // The row at these arguments, or kNoRow.
  uint32_t row_of(FunctionId function, std::span<const Value> arguments) const;
  // Merges where there is a value already.
  void set(FunctionId function, std::span<const Value> arguments, Value value);
  void unite(Value a, Value b);
  void remove(FunctionId function, std::span<const Value> arguments);
  // Keeps a row for congruence and lookups, but out of queries and extraction from now on; adds the
  // row of a constructor or relation that isn't there.
  void subsume(FunctionId function, std::span<const Value> arguments);
  // Replaces a row by its canonical form and merges where that is there already.
  void canonicalize_row(FunctionId function, uint32_t row);
  // To have what that reads in the cache by then.
  void prefetch_row(FunctionId function, uint32_t row) const;

  // On whose account changes are made from now on.
  RuleId cause = kInitial;
  // What explanations are made of; only where that was asked for, before anything was added.
  std::optional<ProofLog> proofs;
  uint32_t clock = 1;  // rows get it as their time
  ChangeCounts counts;
  // What tables, indexes and classes occupy.
  size_t bytes() const;
  // Rows of all tables that are alive; classes that weren't merged away.
  size_t tuples() const { return tuples_; }
  size_t classes() const { return classes_; }
  // The time of the last new or changed row of any table.
  uint32_t last_time() const { return last_time_; }
  // A global has another value now: to rules that use it, all rows are new.
  void note_changed_global(Global& global) { last_time_ = global.changed_at = clock; }

  // As a literal of the language; `#7` for a class.
  std::string print(Value value, SortId sort) const;

 private:
  // At most this many sorts: an id's takes 16 bits.
  static constexpr size_t kMaxSorts = 0xffff;

  // Which columns of a function unions can make stale, as bits.
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
  // The arguments as a row's key, and the row that has it, or kNoRow.
  uint32_t find_row(FunctionId function, std::span<const Value> arguments, uint32_t* key) const;
  Value make_id(SortId sort);
  uint32_t append(FunctionId function, const uint32_t* row, uint32_t mark);
  void kill(FunctionId function, uint32_t row);
  // What is merged into a row: the values that are set, or another row with its fact.
  struct Incoming {
    std::span<const Value> arguments = {};
    Value value;
    uint32_t fact = kNoFact;
  };
  void merge_into(FunctionId function, uint32_t row, const Incoming& incoming);
  Value merged(FunctionId function, uint32_t row, Value old_value, Value new_value,
               ProofOrigin* origin);
  void join_classes(Value a, Value b);
  // A row that was just appended.
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
