#include "luminal/egraph/column_index.h"

#include <utility>

namespace luminal::egraph {

ColumnIndex::ColumnIndex(uint64_t mask, size_t width) : mask_(mask), width_(width), slots_(16) {
  for (uint32_t column = 0; column < width; ++column) {
    if (mask >> column & 1) columns_.push_back(column);
  }
}

void ColumnIndex::sync(std::span<const uint32_t> data) {
  const size_t rows = data.size() / width_;
  std::vector<uint32_t> key(columns_.size());
  for (size_t row = next_.size(); row < rows; ++row) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    for (size_t i = 0; i < key.size(); ++i) key[i] = data[row * width_ + columns_[i]];
    const uint32_t hash = hash_values(key);
    Slot& slot = slots_[find_slot(hash, key, data)];
    next_.push_back(kNoRow);
    if (slot.head == kNoRow) {
      slot = {.head = static_cast<uint32_t>(row), .tail = static_cast<uint32_t>(row), .hash = hash};
      ++used_;
    } else {
      next_[slot.tail] = static_cast<uint32_t>(row);
      slot.tail = static_cast<uint32_t>(row);
    }
  }
}

uint32_t ColumnIndex::first(std::span<const uint32_t> key, std::span<const uint32_t> data) const {
  return slots_[find_slot(hash_values(key), key, data)].head;
}

size_t ColumnIndex::find_slot(uint32_t hash, std::span<const uint32_t> key,
                              std::span<const uint32_t> data) const {
  const size_t wrap = slots_.size() - 1;
  for (size_t at = hash & wrap;; at = (at + 1) & wrap) {
    const Slot& slot = slots_[at];
    if (slot.head == kNoRow) return at;
    if (slot.hash != hash) continue;
    const uint32_t* row = data.data() + size_t{slot.head} * width_;
    bool equal = true;
    for (size_t i = 0; i < key.size() && equal; ++i) equal = row[columns_[i]] == key[i];
    if (equal) return at;
  }
}

void ColumnIndex::grow() {
  std::vector<Slot> old(2 * slots_.size());
  std::swap(old, slots_);
  const size_t wrap = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.head == kNoRow) continue;
    size_t at = slot.hash & wrap;
    while (slots_[at].head != kNoRow) at = (at + 1) & wrap;
    slots_[at] = slot;
  }
}

}  // namespace luminal::egraph
