// Table: the rows of one function, appended in time order, with a hash index of their keys.
#pragma once

#include "luminal/egraph/database/column_index.h"
#include "luminal/egraph/database/row_hash.h"
#include "luminal/egraph/grow_array.h"
#include "luminal/egraph/value.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace luminal::egraph {

// The last word of a row: the rule that made it, and whether it is subsumed or dead. A dead row
// keeps its values, because indexes still compare them.
inline constexpr uint32_t kDeadMark = 0xffffffffu;
inline constexpr uint32_t kSubsumedBit = 0x80000000u;

inline uint32_t mark_of(RowData table, size_t row) { return table.row(row)[table.stride - 1]; }
inline bool is_alive(RowData table, size_t row) { return mark_of(table, row) != kDeadMark; }

// A row is its arguments, then its value, then its mark. A change kills the row and appends
// another, so the rows that are new since a time form a range (as semi-naive evaluation needs). At
// most one live row has given arguments.
class Table {
 public:
  explicit Table(size_t inputs);

  size_t inputs() const { return inputs_; }
  size_t width() const { return inputs_ + 1; }
  size_t rows() const { return rows_; }  // live and dead
  size_t live() const { return live_; }
  RowData data() const { return {values_.data(), inputs_ + 2, rows_}; }
  const uint32_t* row(size_t row) const { return values_.data() + row * (inputs_ + 2); }
  uint32_t output(size_t row) const { return this->row(row)[inputs_]; }
  uint32_t mark(size_t row) const { return this->row(row)[inputs_ + 1]; }
  bool alive(size_t row) const { return mark(row) != kDeadMark; }
  bool subsumed(size_t row) const { return (mark(row) & kSubsumedBit) != 0; }  // also true if dead
  RuleId origin(size_t row) const { return RuleId{mark(row) & ~kSubsumedBit}; }
  size_t bytes() const;

  // The live row with these arguments, or kNoRow.
  uint32_t find(const uint32_t* key) const { return find(key, hash_values(key, inputs_)); }
  uint32_t find(const uint32_t* key, uint32_t hash) const {
    const size_t wrap = slots_.size() - 1;
    for (size_t at = hash & wrap; slots_[at].row != kNoRow; at = (at + 1) & wrap) {
      if (slots_[at].hash == hash && equal_values(key, row(slots_[at].row), inputs_)) {
        return slots_[at].row;
      }
    }
    return kNoRow;
  }
  uint32_t hash_of(const uint32_t* key) const { return hash_values(key, inputs_); }
  // Prefetch what a later `find` reads: first the slot, then the row.
  void prefetch_slot(uint32_t hash) const { prefetch(&slots_[hash & (slots_.size() - 1)]); }
  void prefetch_row(uint32_t hash) const {
    const RowSlot& slot = slots_[hash & (slots_.size() - 1)];
    if (slot.row != kNoRow) prefetch(row(slot.row));
  }

  // `values` are the arguments and the value; no live row may have these arguments. Times ascend.
  uint32_t append(const uint32_t* values, uint32_t time, uint32_t mark) {
    return append(values, hash_values(values, inputs_), time, mark);
  }
  uint32_t append(const uint32_t* values, uint32_t hash, uint32_t time, uint32_t mark);
  void kill(uint32_t row);
  // Changes a row in place. Only allowed for a row of the current time that no index holds yet; no
  // other live row may have these arguments.
  bool can_rewrite(uint32_t row, uint32_t time) const {
    return time == last_time_ && row >= starts_.back().row && row >= indexed_rows_;
  }
  void rewrite(uint32_t row, const uint32_t* values);
  // The number of a row's fact in the proof log, if there is one.
  uint32_t fact(uint32_t row) const { return facts_[row]; }
  void set_fact(uint32_t row, uint32_t fact) {
    if (row >= facts_.size()) facts_.resize(row + 1, 0);
    facts_[row] = fact;
  }
  void subsume(uint32_t row) { values_[row * (inputs_ + 2) + inputs_ + 1] |= kSubsumedBit; }

  // The first row appended at this time or later.
  size_t first_row_since(uint32_t time) const;
  // The time of the last append; 0 before the first.
  uint32_t last_time() const { return last_time_; }

  // The index over a set of columns, up to date; created on first use. The reference is valid until
  // the table is compacted.
  const ColumnIndex& index(uint64_t mask);
  bool has_index(uint64_t mask) const;
  // The number of rows that an index lags behind; all rows if there is none.
  size_t rows_to_index(uint64_t mask) const;
  // The expected number of live rows that a lookup by these columns finds, estimated from a sample
  // and updated when the table has doubled.
  double rows_per_key(uint64_t mask);

  // Drops dead rows once there are many; row numbers change, their order doesn't.
  void compact_if_sparse();

 private:
  struct Start {
    uint32_t time;
    uint32_t row;
  };

  struct Estimate {
    uint64_t mask;
    size_t rows;  // of the table at that time
    double rows_per_key;
  };

  void insert_slot(uint32_t row, uint32_t hash);
  void erase_slot(uint32_t row);
  void grow();
  double estimate_rows_per_key(uint64_t mask) const;

  size_t inputs_;
  size_t rows_ = 0;
  size_t live_ = 0;
  size_t indexed_rows_ = 0;  // rows below this may be in an index
  uint32_t last_time_ = 0;
  GrowArray<uint32_t> values_;
  GrowArray<RowSlot> slots_;
  GrowArray<uint32_t> facts_;  // by row; empty without a proof log
  std::vector<Start> starts_;
  std::deque<ColumnIndex> indexes_;
  std::vector<Estimate> estimates_;
};

}  // namespace luminal::egraph
