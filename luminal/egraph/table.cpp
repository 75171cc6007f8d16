#include "luminal/egraph/table.h"

#include "luminal/base/check.h"

#include <algorithm>
#include <utility>

namespace luminal::egraph {

uint32_t Table::find(std::span<const uint32_t> key) const {
  const uint32_t hash = hash_values(key);
  const size_t wrap = slots_.size() - 1;
  for (size_t at = hash & wrap; slots_[at].row != kNoRow; at = (at + 1) & wrap) {
    if (slots_[at].hash == hash && std::equal(key.begin(), key.end(), row(slots_[at].row))) {
      return slots_[at].row;
    }
  }
  return kNoRow;
}

uint32_t Table::append(std::span<const uint32_t> row, uint32_t time, RuleId origin) {
  LUMINAL_CHECK(rows() < kNoRow, "a table is full: 32-bit row numbers are used up");
  const uint32_t number = static_cast<uint32_t>(rows());
  if (2 * (live_ + 1) > slots_.size()) grow();
  insert_slot(number, hash_values(row.first(inputs_)));
  data_.insert(data_.end(), row.begin(), row.end());
  origins_.push_back(origin);
  if (last_time() != time) starts_.push_back({.time = time, .row = number});
  ++live_;
  return number;
}

// Removes the slot and moves later ones of its run back, so that no tombstones gather.
void Table::kill(uint32_t row) {
  const size_t wrap = slots_.size() - 1;
  size_t at = hash_values(key(row)) & wrap;
  while (slots_[at].row != row) at = (at + 1) & wrap;
  for (size_t next = (at + 1) & wrap; slots_[next].row != kNoRow; next = (next + 1) & wrap) {
    const size_t home = slots_[next].hash & wrap;
    if (((next - home) & wrap) < ((next - at) & wrap)) continue;
    slots_[at] = slots_[next];
    at = next;
  }
  slots_[at] = {};
  origins_[row] = RuleId{};
  --live_;
}

size_t Table::first_row_since(uint32_t time) const {
  const auto start = std::lower_bound(starts_.begin(), starts_.end(), time,
                                      [](const Start& s, uint32_t t) { return s.time < t; });
  return start == starts_.end() ? rows() : start->row;
}

const ColumnIndex& Table::index(uint64_t mask) {
  for (ColumnIndex& index : indexes_) {
    if (index.mask() != mask) continue;
    index.sync(data_);
    return index;
  }
  indexes_.emplace_back(mask, width()).sync(data_);
  return indexes_.back();
}

const ColumnIndex* Table::find_index(uint64_t mask) const {
  for (const ColumnIndex& index : indexes_) {
    if (index.mask() == mask && index.synced(rows())) return &index;
  }
  return nullptr;
}

void Table::compact_if_sparse() {
  if (rows() - live_ <= live_ + 64) return;
  const uint32_t last = last_time();
  std::vector<Start> starts;
  size_t kept = 0;
  for (size_t from = 0, start = 0; from <= rows(); ++from) {
    // Several times start at one row, and one past the last, where a compaction left nothing of
    // them.
    for (; start < starts_.size() && starts_[start].row == from; ++start) {
      // A time of which nothing is left gives way to the next.
      if (!starts.empty() && starts.back().row == kept) starts.pop_back();
      starts.push_back({.time = starts_[start].time, .row = static_cast<uint32_t>(kept)});
    }
    if (from == rows() || !alive(from)) continue;
    std::copy_n(row(from), width(), data_.begin() + static_cast<ptrdiff_t>(kept * width()));
    origins_[kept] = origins_[from];
    ++kept;
  }
  data_.resize(kept * width());
  origins_.resize(kept);
  starts_ = std::move(starts);
  LUMINAL_CHECK(last_time() == last && kept == live_, "compaction lost rows or time");
  indexes_.clear();
  std::fill(slots_.begin(), slots_.end(), Slot{});
  for (size_t r = 0; r < kept; ++r) insert_slot(static_cast<uint32_t>(r), hash_values(key(r)));
}

void Table::insert_slot(uint32_t row, uint32_t hash) {
  const size_t wrap = slots_.size() - 1;
  size_t at = hash & wrap;
  while (slots_[at].row != kNoRow) at = (at + 1) & wrap;
  slots_[at] = {.row = row, .hash = hash};
}

void Table::grow() {
  std::vector<Slot> old(2 * slots_.size());
  std::swap(old, slots_);
  for (const Slot& slot : old) {
    if (slot.row != kNoRow) insert_slot(slot.row, slot.hash);
  }
}

}  // namespace luminal::egraph
