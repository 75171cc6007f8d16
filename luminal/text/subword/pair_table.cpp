#include "luminal/text/subword/pair_table.h"

#include <bit>

#include "luminal/base/hash.h"

namespace luminal::tokens {
namespace {

constexpr uint64_t kFree = ~uint64_t{0};

uint64_t key_of(TokenId left, TokenId right) {
  return (static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32) | static_cast<uint32_t>(right);
}

}  // namespace

PairTable::PairTable(size_t expected)
    : slots_(std::bit_ceil(expected * 2 + 1), Slot{kFree, {0, 0}}) {}

// The slot that holds the key, or where it would go; there is always a free slot.
size_t PairTable::place(uint64_t key) const {
  size_t slot = base::mix(key) & (slots_.size() - 1);
  while (slots_[slot].key != kFree && slots_[slot].key != key) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

void PairTable::add(TokenId left, TokenId right, Merge merge) {
  const uint64_t key = key_of(left, right);
  slots_[place(key)] = {key, merge};
}

const PairTable::Merge* PairTable::find(TokenId left, TokenId right) const {
  const uint64_t key = key_of(left, right);
  const Slot& slot = slots_[place(key)];
  return slot.key == key ? &slot.merge : nullptr;
}

}  // namespace luminal::tokens
