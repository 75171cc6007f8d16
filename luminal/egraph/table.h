// Table: the rows of one function, append-only in the order of time, with an index of their keys.
#pragma once

#include "luminal/egraph/column_index.h"
#include "luminal/egraph/value.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace luminal::egraph {

// A row is its arguments, then its value. A change kills the row and appends another, so what is
// new since a time is a range of rows. At most one living row per arguments.
class Table {
 public:
  explicit Table(size_t inputs) : inputs_(inputs), slots_(16) {}

  size_t inputs() const { return inputs_; }
  size_t width() const { return inputs_ + 1; }
  size_t rows() const { return origins_.size(); }  // living and dead
  size_t live() const { return live_; }
  std::span<const uint32_t> data() const { return data_; }
  const uint32_t* row(size_t row) const { return data_.data() + row * width(); }
  uint32_t output(size_t row) const { return this->row(row)[inputs_]; }
  bool alive(size_t row) const { return origins_[row].valid(); }
  RuleId origin(size_t row) const { return origins_[row]; }

  // The living row with these arguments, or kNoRow.
  uint32_t find(std::span<const uint32_t> key) const;
  // `row` holds arguments and value, and no living row has its arguments; times never go back.
  uint32_t append(std::span<const uint32_t> row, uint32_t time, RuleId origin);
  void kill(uint32_t row);

  // The first row that was appended at this time or later.
  size_t first_row_since(uint32_t time) const;
  // The time of the last append; 0 before the first.
  uint32_t last_time() const { return starts_.empty() ? 0 : starts_.back().time; }

  // The index over a set of columns, up to date; made on first use. The reference holds until the
  // table is compacted.
  const ColumnIndex& index(uint64_t mask);
  // The index if it is there and up to date.
  const ColumnIndex* find_index(uint64_t mask) const;

  // Drops dead rows once they are the larger part; row numbers change, their order doesn't.
  void compact_if_sparse();

 private:
  struct Slot {
    uint32_t row = kNoRow;
    uint32_t hash = 0;
  };
  struct Start {
    uint32_t time;
    uint32_t row;
  };

  std::span<const uint32_t> key(size_t r) const { return {row(r), inputs_}; }
  void insert_slot(uint32_t row, uint32_t hash);
  void grow();

  size_t inputs_;
  size_t live_ = 0;
  std::vector<uint32_t> data_;
  std::vector<RuleId> origins_;  // none of a dead row, whose values stay: indexes compare them
  std::vector<Start> starts_;
  std::vector<Slot> slots_;
  std::deque<ColumnIndex> indexes_;
};

}  // namespace luminal::egraph
