#include "luminal/egraph/database/column_index.h"

#include "luminal/egraph/database/table.h"

#include <array>
#include <utility>

namespace luminal::egraph {

ColumnIndex::ColumnIndex(uint64_t mask, size_t columns) : mask_(mask) {
  slots_.resize(kFirstSlots, {});
  for (uint32_t column = 0; column < columns; ++column) {
    if (mask >> column & 1) columns_.push_back(column);
  }
}

void ColumnIndex::sync(RowData table) {
  constexpr size_t kAhead = 8;
  std::array<uint32_t, 64> key;
  const auto hash_of = [&](size_t row) {
    const uint32_t* values = table.row(row);
    for (size_t i = 0; i < columns_.size(); ++i) key[i] = values[columns_[i]];
    return hash_values(key.data(), columns_.size());
  };
  const bool large = table.rows > 4096;
  for (size_t row = next_.size(); row < table.rows; ++row) {
    if (large && row + kAhead < table.rows) prefetch_slot(hash_of(row + kAhead));
    next_.push_back(kNoRow);
    if (!is_alive(table, row)) continue;
    if (4 * (used_ + 1) > 3 * slots_.size()) grow();
    const uint32_t hash = hash_of(row);
    RowSlot& slot = slots_[find_slot(hash, key.data(), table)];
    if (slot.row == kNoRow) ++used_;
    next_[row] = slot.row;
    slot = {.row = static_cast<uint32_t>(row), .hash = hash};
  }
}

size_t ColumnIndex::find_slot(uint32_t hash, const uint32_t* key, RowData table) const {
  const size_t wrap = slots_.size() - 1;
  const size_t count = columns_.size();
  for (size_t at = hash & wrap;; at = (at + 1) & wrap) {
    const RowSlot& slot = slots_[at];
    if (slot.row == kNoRow) return at;
    if (slot.hash != hash) continue;
    const uint32_t* row = table.row(slot.row);
    bool equal = true;
    for (size_t i = 0; i < count && equal; ++i) equal = row[columns_[i]] == key[i];
    if (equal) return at;
  }
}

void ColumnIndex::grow() {
  GrowArray<RowSlot> old;
  old.resize(2 * slots_.size(), {});
  std::swap(old, slots_);
  const size_t wrap = slots_.size() - 1;
  for (const RowSlot& slot : old) {
    if (slot.row == kNoRow) continue;
    size_t at = slot.hash & wrap;
    while (slots_[at].row != kNoRow) at = (at + 1) & wrap;
    slots_[at] = slot;
  }
}

}  // namespace luminal::egraph
