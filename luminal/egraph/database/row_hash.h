// The hash of a row's key, identical in every run, and the slots of hash tables over rows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace luminal::egraph {

inline constexpr uint32_t kNoRow = 0xffffffffu;
// Slots of an empty hash table; a power of two.
inline constexpr size_t kFirstSlots = 8;

// A lookup compares the hash first, then the row itself.
struct RowSlot {
  uint32_t row = kNoRow;
  uint32_t hash = 0;
};

inline uint32_t hash_values(const uint32_t* values, size_t count) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15ull;
  uint64_t h = count;
  size_t i = 0;
  for (; i + 1 < count; i += 2) {
    h = (h ^ (values[i] | uint64_t{values[i + 1]} << 32)) * kOdd;
    h ^= h >> 32;
  }
  if (i < count) h = (h ^ values[i]) * kOdd;
  h = (h ^ (h >> 29)) * 0xff51afd7ed558ccdull;
  return static_cast<uint32_t>(h >> 32);
}

inline bool equal_values(const uint32_t* a, const uint32_t* b, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

inline void prefetch(const void* address) { __builtin_prefetch(address); }

}  // namespace luminal::egraph
