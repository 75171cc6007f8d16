#include "luminal/egraph/database/rebuild.h"

#include <vector>

namespace luminal::egraph {
namespace {

class Rebuilder {
 public:
  explicit Rebuilder(Database& database) : database_(database) {}

  // Merges and congruence displace further ids, which the next round handles.
  void run() {
    Containers& containers = database_.constants.containers;
    const bool any = !database_.ids().displaced().empty() || containers.has_unchecked();
    if (!any) return compact();
    scans_.assign(database_.functions(), 0);
    while (!database_.ids().displaced().empty() || containers.has_unchecked()) {
      const std::span<const uint32_t> log = database_.ids().displaced();
      displaced_.assign(log.begin(), log.end());
      database_.ids().clear_displaced();
      containers.refresh(database_.ids(), displaced_);
      sorts_.assign(database_.schema.sorts().size(), false);
      for (uint32_t id : displaced_) sorts_[database_.sort_of(Value{id}).index()] = true;
      for (uint32_t f = 0; f < database_.functions(); ++f) fix_table(FunctionId{f});
    }
    compact();
    for (Global& global : database_.globals) {
      const Value value = database_.canonical(global.value, global.sort);
      if (value == global.value) continue;
      global.value = value;
      database_.note_changed_global(global);
    }
  }

 private:
  void compact() {
    for (uint32_t f = 0; f < database_.functions(); ++f) {
      database_.table(FunctionId{f}).compact_if_sparse();
    }
  }

  void fix_table(FunctionId function) {
    Table& table = database_.table(function);
    if (table.live() == 0) return;
    const Function& schema_row = database_.schema.function(function);
    columns_.clear();
    for (uint32_t i = 0; i < schema_row.inputs.size(); ++i) {
      add_column(i, schema_row.inputs[i]);
    }
    add_column(static_cast<uint32_t>(schema_row.inputs.size()), schema_row.output);
    if (columns_.empty()) return;
    rows_.clear();
    if (lookups_pay(table, scans_[function.index()])) {
      find_rows(table);
    } else {
      scan_rows(table);
      ++scans_[function.index()];
    }
    // Software prefetch: loads what later rows need while earlier ones are fixed.
    constexpr size_t kAhead = 8;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (i + kAhead < rows_.size()) database_.prefetch_row(function, rows_[i + kAhead]);
      if (table.alive(rows_[i])) database_.canonicalize_row(function, rows_[i]);
    }
  }

  void add_column(uint32_t number, SortId sort) {
    const bool is_class = database_.is_equality(sort);
    const bool stale =
        is_class ? sorts_[sort.index()] : database_.holds_ids(sort) && !displaced(sort).empty();
    if (stale) columns_.push_back({.number = number, .sort = sort, .is_class = is_class});
  }

  // The values of a sort that became stale in this round.
  std::span<const uint32_t> displaced(SortId sort) const {
    if (database_.is_equality(sort)) return displaced_;
    return database_.constants.containers.displaced(sort);
  }

  // Costs in units of one scanned row: kPerLookup for looking a value up, kPerIndexedRow for adding
  // a row to an index that lags behind. After kPerIndexedRow scans of a table, updating its indexes
  // has paid off and is no longer counted.
  bool lookups_pay(const Table& table, size_t scans) const {
    constexpr size_t kPerLookup = 8, kPerIndexedRow = 10;
    size_t cost = 0;
    for (const Column& column : columns_) {
      cost += kPerLookup * displaced(column.sort).size();
      if (scans >= kPerIndexedRow) continue;
      cost += kPerIndexedRow * table.rows_to_index(uint64_t{1} << column.number);
    }
    return cost < table.rows() * columns_.size();
  }

  void find_rows(Table& table) {
    for (const Column& column : columns_) {
      const ColumnIndex& index = table.index(uint64_t{1} << column.number);
      for (uint32_t id : displaced(column.sort)) {
        for (uint32_t row = index.first(&id, table.data()); row != kNoRow; row = index.next(row)) {
          rows_.push_back(row);
        }
      }
    }
  }

  void scan_rows(const Table& table) {
    const UnionFind& ids = database_.ids();
    for (uint32_t row = 0; row < table.rows(); ++row) {
      const uint32_t* values = table.row(row);
      bool stale = false;
      for (const Column& column : columns_) {
        const Value value{values[column.number]};
        stale |= column.is_class
                     ? ids.is_displaced(value.value)
                     : database_.constants.containers.canonical(column.sort, value) != value;
      }
      if (stale && table.alive(row)) rows_.push_back(row);
    }
  }

  struct Column {
    uint32_t number;
    SortId sort;
    bool is_class;  // otherwise a container
  };

  Database& database_;
  std::vector<uint32_t> displaced_;
  std::vector<bool> sorts_;      // by sort: has displaced ids
  std::vector<Column> columns_;  // of the current table, those that may hold stale values
  std::vector<size_t> scans_;    // by table, in this rebuild
  std::vector<uint32_t> rows_;   // of the current table, those to fix
};

}  // namespace

void rebuild(Database& database) {
  const RuleId cause = database.cause;
  Rebuilder(database).run();
  database.cause = cause;
}

}  // namespace luminal::egraph
