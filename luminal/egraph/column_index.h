// ColumnIndex: from the values of some columns to the rows of a table that hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace luminal::egraph {

inline constexpr uint32_t kNoRow = 0xffffffffu;

// The hash of a row's key, the same in every run.
inline uint32_t hash_values(std::span<const uint32_t> values) {
  uint64_t h = 0x9e3779b97f4a7c15ull;
  for (uint32_t value : values) h = (h ^ value) * 0xff51afd7ed558ccdull + (h >> 29);
  return static_cast<uint32_t>((h ^ (h >> 32)) * 0x9e3779b1u);
}

// Rows of one key form a chain in the order of their numbers. It lags behind its table until
// `sync`, and keeps dead rows: whoever walks a chain skips them.
class ColumnIndex {
 public:
  ColumnIndex(uint64_t mask, size_t width);

  uint64_t mask() const { return mask_; }
  // Takes in the rows that were appended since the last time; `data` is the table, row by row.
  void sync(std::span<const uint32_t> data);
  bool synced(size_t rows) const { return next_.size() == rows; }
  size_t distinct_keys() const { return used_; }

  // The first row of a chain; the key holds the masked columns in order.
  uint32_t first(std::span<const uint32_t> key, std::span<const uint32_t> data) const;
  uint32_t next(uint32_t row) const { return next_[row]; }

 private:
  struct Slot {
    uint32_t head = kNoRow;
    uint32_t tail = kNoRow;
    uint32_t hash = 0;
  };

  size_t find_slot(uint32_t hash, std::span<const uint32_t> key,
                   std::span<const uint32_t> data) const;
  void grow();

  uint64_t mask_;
  size_t width_;
  std::vector<uint32_t> columns_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> next_;
  size_t used_ = 0;
};

}  // namespace luminal::egraph
