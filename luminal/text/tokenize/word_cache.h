// WordCache: the ids of words seen before, during one call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/hash.h"
#include "luminal/text/token_id.h"

namespace luminal::tokens {

// Words repeat. A direct-mapped table of fixed size: a new word evicts the one it collides with, so
// the memory of a call is bounded.
class WordCache {
 public:
  // Not worth a table for short texts.
  explicit WordCache(size_t text_bytes) : entries_(text_bytes < kShortText ? 0 : kEntries) {}

  // Appends the ids of a word; calls `encode(word, ids)` on a miss.
  template <typename Encode>
  void append(std::string_view word, std::vector<TokenId>& ids, const Encode& encode) {
    if (word.size() > kMaxWord || entries_.empty()) return encode(word, ids);
    Entry& entry = entries_[base::hash(word) % kEntries];
    if (entry.word != word) {
      entry.word = word;
      entry.ids.clear();
      encode(word, entry.ids);
    }
    ids.insert(ids.end(), entry.ids.begin(), entry.ids.end());
  }

 private:
  static constexpr size_t kShortText = 4096;
  static constexpr size_t kMaxWord = 48;
  static constexpr size_t kEntries = 8192;

  struct Entry {
    std::string word;
    std::vector<TokenId> ids;
  };
  std::vector<Entry> entries_;
};

}  // namespace luminal::tokens
