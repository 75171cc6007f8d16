// ColumnIndex: a hash index from the values of some columns to the rows of a table that hold them.
#pragma once

#include "luminal/egraph/database/row_hash.h"
#include "luminal/egraph/grow_array.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace luminal::egraph {

// The rows of a table, stored one after the other; see Table.
struct RowData {
  const uint32_t* values;
  size_t stride;
  size_t rows;

  const uint32_t* row(size_t number) const { return values + number * stride; }
};

// The rows of one key form a chain, the newest first. The index lags behind its table until `sync`,
// and keeps rows that died since: callers that walk a chain must skip those.
class ColumnIndex {
 public:
  ColumnIndex(uint64_t mask, size_t columns);

  uint64_t mask() const { return mask_; }
  // Adds the live rows appended since the last call.
  void sync(RowData table);
  size_t rows() const { return next_.size(); }  // that were added
  size_t bytes() const { return slots_.bytes() + next_.bytes(); }

  // The first row of a chain; the key holds the masked columns in order.
  uint32_t first(const uint32_t* key, RowData table) const {
    return slots_[find_slot(hash_values(key, columns_.size()), key, table)].row;
  }
  uint32_t next(uint32_t row) const { return next_[row]; }

  // Prefetch what a later `first` reads: first the slot, then the row.
  void prefetch_slot(uint32_t hash) const { prefetch(&slots_[hash & (slots_.size() - 1)]); }
  void prefetch_row(uint32_t hash, RowData table) const {
    const RowSlot& slot = slots_[hash & (slots_.size() - 1)];
    if (slot.row == kNoRow) return;
    prefetch(table.row(slot.row));
    prefetch(&next_[slot.row]);
  }

 private:
  size_t find_slot(uint32_t hash, const uint32_t* key, RowData table) const;
  void grow();

  uint64_t mask_;
  std::vector<uint32_t> columns_;
  GrowArray<RowSlot> slots_;  // the newest row of each key
  GrowArray<uint32_t> next_;
  size_t used_ = 0;
};

}  // namespace luminal::egraph
