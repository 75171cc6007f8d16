#include "luminal/egraph/rebuild.h"

#include <vector>

namespace luminal::egraph {
namespace {

class Rebuilder {
 public:
  explicit Rebuilder(Database& database) : database_(database) {}

  // Merges and congruence displace more ids, which the next round takes up.
  void run() {
    const bool any = !database_.ids().displaced().empty();
    while (!database_.ids().displaced().empty()) {
      const std::span<const uint32_t> log = database_.ids().displaced();
      displaced_.assign(log.begin(), log.end());
      database_.ids().clear_displaced();
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
      if (database_.is_equality(schema_row.inputs[i])) columns_.push_back(i);
    }
    if (database_.is_equality(schema_row.output)) {
      columns_.push_back(static_cast<uint32_t>(schema_row.inputs.size()));
    }
    if (columns_.empty() || table.live() == 0) return;
    // Looking ids up costs about this many rows of a scan each.
    constexpr size_t kRowsPerLookup = 8;
    if (displaced_.size() * columns_.size() * kRowsPerLookup < table.rows()) {
      find_rows(table);
    } else {
      scan_rows(table);
    }
    for (uint32_t row : rows_) {
      if (table.alive(row)) database_.canonicalize_row(function, row);
    }
  }

  void find_rows(Table& table) {
    rows_.clear();
    for (uint32_t column : columns_) {
      const ColumnIndex& index = table.index(uint64_t{1} << column);
      for (uint32_t id : displaced_) {
        for (uint32_t row = index.first({&id, 1}, table.data()); row != kNoRow;
             row = index.next(row)) {
          rows_.push_back(row);
        }
      }
    }
  }

  void scan_rows(const Table& table) {
    rows_.clear();
    const UnionFind& ids = database_.ids();
    for (uint32_t row = 0; row < table.rows(); ++row) {
      if (!table.alive(row)) continue;
      for (uint32_t column : columns_) {
        if (ids.is_root(table.row(row)[column])) continue;
        rows_.push_back(row);
        break;
      }
    }
  }

  Database& database_;
  std::vector<uint32_t> displaced_;
  std::vector<uint32_t> columns_;  // that hold ids, of the table at hand
  std::vector<uint32_t> rows_;     // to fix, of the table at hand
};

}  // namespace

void rebuild(Database& database) {
  const RuleId cause = database.cause;
  Rebuilder(database).run();
  database.cause = cause;
}

}  // namespace luminal::egraph
