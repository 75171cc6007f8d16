#include "luminal/egraph/database/table.h"

#include "luminal/base/check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace luminal::egraph {

Table::Table(size_t inputs) : inputs_(inputs) { slots_.resize(kFirstSlots, {}); }

size_t Table::bytes() const {
  size_t sum = values_.bytes() + slots_.bytes() + facts_.bytes();
  for (const ColumnIndex& index : indexes_) sum += index.bytes();
  return sum;
}

uint32_t Table::append(const uint32_t* values, uint32_t hash, uint32_t time, uint32_t mark) {
  LUMINAL_CHECK(rows_ < kNoRow, "a table is full: 32-bit row numbers are used up");
  const uint32_t number = static_cast<uint32_t>(rows_);
  if (4 * (live_ + 1) > 3 * slots_.size()) grow();
  insert_slot(number, hash);
  uint32_t* row = values_.extend(inputs_ + 2);
  std::copy_n(values, inputs_ + 1, row);
  row[inputs_ + 1] = mark;
  if (last_time_ != time) {
    starts_.push_back({.time = time, .row = number});
    last_time_ = time;
  }
  ++rows_;
  ++live_;
  return number;
}

void Table::kill(uint32_t row) {
  erase_slot(row);
  values_[row * (inputs_ + 2) + inputs_ + 1] = kDeadMark;
  --live_;
}

void Table::rewrite(uint32_t row, const uint32_t* values) {
  erase_slot(row);
  std::copy_n(values, inputs_ + 1, values_.data() + row * (inputs_ + 2));
  insert_slot(row, hash_values(values, inputs_));
}

size_t Table::first_row_since(uint32_t time) const {
  if (time > last_time_) return rows_;
  const auto start = std::lower_bound(starts_.begin(), starts_.end(), time,
                                      [](const Start& s, uint32_t t) { return s.time < t; });
  return start == starts_.end() ? rows_ : start->row;
}

const ColumnIndex& Table::index(uint64_t mask) {
  indexed_rows_ = rows_;
  for (ColumnIndex& index : indexes_) {
    if (index.mask() != mask) continue;
    if (index.rows() != rows_) index.sync(data());
    return index;
  }
  ColumnIndex& index = indexes_.emplace_back(mask, width());
  index.sync(data());
  return index;
}

bool Table::has_index(uint64_t mask) const {
  return std::any_of(indexes_.begin(), indexes_.end(),
                     [&](const ColumnIndex& index) { return index.mask() == mask; });
}

size_t Table::rows_to_index(uint64_t mask) const {
  for (const ColumnIndex& index : indexes_) {
    if (index.mask() == mask) return rows_ - index.rows();
  }
  return rows_;
}

double Table::rows_per_key(uint64_t mask) {
  for (Estimate& estimate : estimates_) {
    if (estimate.mask != mask) continue;
    if (rows_ >= 2 * estimate.rows || 2 * rows_ <= estimate.rows) {
      estimate = {.mask = mask, .rows = rows_, .rows_per_key = estimate_rows_per_key(mask)};
    }
    return estimate.rows_per_key;
  }
  estimates_.push_back({.mask = mask, .rows = rows_, .rows_per_key = estimate_rows_per_key(mask)});
  return estimates_.back().rows_per_key;
}

// The geometric mean of two averages over a sample: per row, where keys with many rows weigh more
// (the fraction of sampled pairs that agree estimates the chance that any two rows do), and per
// key. Which of them a lookup meets depends on where its key comes from.
double Table::estimate_rows_per_key(uint64_t mask) const {
  constexpr size_t kSamples = 1024;
  std::vector<uint32_t> hashes;
  std::array<uint32_t, 64> key;
  const size_t step = std::max<size_t>(1, rows_ / kSamples);
  for (size_t r = 0; r < rows_; r += step) {
    if (!alive(r)) continue;
    size_t columns = 0;
    for (size_t c = 0; c < width(); ++c) {
      if (mask >> c & 1) key[columns++] = row(r)[c];
    }
    hashes.push_back(hash_values(key.data(), columns));
  }
  if (hashes.size() < 2) return 1;
  std::sort(hashes.begin(), hashes.end());
  double pairs = 0, keys = 0, single_keys = 0;
  for (size_t first = 0, at = 1; at <= hashes.size(); ++at) {
    if (at < hashes.size() && hashes[at] == hashes[first]) continue;
    const double count = static_cast<double>(at - first);
    pairs += count * (count - 1) / 2;
    ++keys;
    if (at - first == 1) ++single_keys;
    first = at;
  }
  const double sampled = static_cast<double>(hashes.size()), live = static_cast<double>(live_);
  const double over_rows = 1 + (live - 1) * pairs / (sampled * (sampled - 1) / 2);
  // Keys seen once in the sample stand for others that weren't sampled.
  const double all_keys = std::sqrt(live / sampled) * single_keys + (keys - single_keys);
  const double over_keys = std::clamp(live / all_keys, 1.0, over_rows);
  return std::sqrt(over_rows * over_keys);
}

void Table::compact_if_sparse() {
  if (rows_ - live_ <= live_ / 2 + 64) return;
  const size_t stride = inputs_ + 2;
  std::vector<Start> starts;
  size_t kept = 0;
  for (size_t from = 0, start = 0; from <= rows_; ++from) {
    // Several time stamps can start at one row, or past the last, if compaction removed their rows.
    for (; start < starts_.size() && starts_[start].row == from; ++start) {
      // A time stamp without rows is replaced by the next one.
      if (!starts.empty() && starts.back().row == kept) starts.pop_back();
      starts.push_back({.time = starts_[start].time, .row = static_cast<uint32_t>(kept)});
    }
    if (from == rows_ || !alive(from)) continue;
    std::copy_n(row(from), stride, values_.data() + kept * stride);
    if (from < facts_.size()) facts_[kept] = facts_[from];
    ++kept;
  }
  LUMINAL_CHECK(kept == live_, "compaction lost rows");
  values_.resize(kept * stride, 0);
  rows_ = kept;
  starts_ = std::move(starts);
  indexes_.clear();
  indexed_rows_ = 0;
  std::fill(slots_.begin(), slots_.end(), RowSlot{});
  for (size_t r = 0; r < kept; ++r) {
    insert_slot(static_cast<uint32_t>(r), hash_values(row(r), inputs_));
  }
}

void Table::insert_slot(uint32_t row, uint32_t hash) {
  const size_t wrap = slots_.size() - 1;
  size_t at = hash & wrap;
  while (slots_[at].row != kNoRow) at = (at + 1) & wrap;
  slots_[at] = {.row = row, .hash = hash};
}

// Backward-shift deletion: moves later slots of the probe sequence back instead of a tombstone.
void Table::erase_slot(uint32_t row) {
  const size_t wrap = slots_.size() - 1;
  size_t at = hash_values(this->row(row), inputs_) & wrap;
  while (slots_[at].row != row) at = (at + 1) & wrap;
  for (size_t next = (at + 1) & wrap; slots_[next].row != kNoRow; next = (next + 1) & wrap) {
    const size_t home = slots_[next].hash & wrap;
    if (((next - home) & wrap) < ((next - at) & wrap)) continue;
    slots_[at] = slots_[next];
    at = next;
  }
  slots_[at] = {};
}

void Table::grow() {
  GrowArray<RowSlot> old;
  old.resize(2 * slots_.size(), {});
  std::swap(old, slots_);
  for (const RowSlot& slot : old) {
    if (slot.row != kNoRow) insert_slot(slot.row, slot.hash);
  }
}

}  // namespace luminal::egraph
