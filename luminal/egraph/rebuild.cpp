#include "luminal/egraph/rebuild.h"

#include <utility>
#include <vector>

namespace luminal::egraph {
namespace {

class Rebuilder {
 public:
  explicit Rebuilder(Database& database) : database_(database) {}

  // Merges and congruence displace more ids, which the next round takes up.
  void run() {
    Containers& containers = database_.constants.containers;
    const bool any = !database_.ids().displaced().empty() || containers.has_unchecked();
    while (!database_.ids().displaced().empty() || containers.has_unchecked()) {
      const std::span<const uint32_t> log = database_.ids().displaced();
      displaced_.assign(log.begin(), log.end());
      database_.ids().clear_displaced();
      containers.refresh(database_.ids(), displaced_);
      for (uint32_t f = 0; f < database_.functions(); ++f) fix_table(FunctionId{f});
    }
    for (uint32_t f = 0; f < database_.functions(); ++f) {
      database_.table(FunctionId{f}).compact_if_sparse();
    }
    if (!any) return;
    for (Global& global : database_.globals) {
      const Value value = database_.canonical(global.value, global.sort);
      if (value == global.value) continue;
      global.value = value;
      database_.note_changed_global(global);
    }
  }

 private:
  void fix_table(FunctionId function) {
    Table& table = database_.table(function);
    const Function& schema_row = database_.schema.function(function);
    columns_.clear();
    for (uint32_t i = 0; i < schema_row.inputs.size(); ++i) {
      add_column(i, schema_row.inputs[i]);
    }
    add_column(static_cast<uint32_t>(schema_row.inputs.size()), schema_row.output);
    if (columns_.empty() || table.live() == 0) return;
    // Looking ids up costs about this many rows of a scan each.
    constexpr size_t kRowsPerLookup = 8;
    size_t lookups = 0;
    for (const Column& column : columns_) lookups += displaced(column.sort).size();
    if (lookups == 0) return;
    if (lookups * kRowsPerLookup < table.rows()) {
      find_rows(table);
    } else {
      scan_rows(table);
    }
    for (uint32_t row : rows_) {
      if (table.alive(row)) database_.canonicalize_row(function, row);
    }
  }

  void add_column(uint32_t number, SortId sort) {
    if (database_.holds_ids(sort)) columns_.push_back({.number = number, .sort = sort});
  }

  // The values of a sort that this round has to look for.
  std::span<const uint32_t> displaced(SortId sort) const {
    if (database_.is_equality(sort)) return displaced_;
    return database_.constants.containers.displaced(sort);
  }

  void find_rows(Table& table) {
    rows_.clear();
    for (const Column& column : columns_) {
      const ColumnIndex& index = table.index(uint64_t{1} << column.number);
      for (uint32_t id : displaced(column.sort)) {
        for (uint32_t row = index.first({&id, 1}, table.data()); row != kNoRow;
             row = index.next(row)) {
          rows_.push_back(row);
        }
      }
    }
  }

  void scan_rows(const Table& table) {
    rows_.clear();
    for (uint32_t row = 0; row < table.rows(); ++row) {
      if (!table.alive(row)) continue;
      for (const Column& column : columns_) {
        const Value value{table.row(row)[column.number]};
        if (std::as_const(database_).canonical(value, column.sort) == value) continue;
        rows_.push_back(row);
        break;
      }
    }
  }

  struct Column {
    uint32_t number;
    SortId sort;
  };

  Database& database_;
  std::vector<uint32_t> displaced_;
  std::vector<Column> columns_;  // that hold ids, of the table at hand
  std::vector<uint32_t> rows_;   // to fix, of the table at hand
};

}  // namespace

void rebuild(Database& database) {
  const RuleId cause = database.cause;
  Rebuilder(database).run();
  database.cause = cause;
}

}  // namespace luminal::egraph
