// PairTable: a hash table from a pair of tokens to the token they merge to and its rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "luminal/text/token_id.h"

namespace luminal::tokens {

class PairTable {
 public:
  struct Merge {
    uint32_t rank;  // lower ranks merge first
    TokenId result;
  };

  explicit PairTable(size_t expected = 0);

  // At most as many as were reserved; a later merge of the same pair replaces an earlier one.
  void add(TokenId left, TokenId right, Merge merge);
  const Merge* find(TokenId left, TokenId right) const;

 private:
  struct Slot {
    uint64_t key;
    Merge merge;
  };
  size_t place(uint64_t key) const;

  std::vector<Slot> slots_;
};

}  // namespace luminal::tokens
