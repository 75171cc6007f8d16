// Vocabulary: tokens by id and ids by token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/text/token_id.h"

namespace luminal::tokens {

class Vocabulary {
 public:
  // The maximum number of tokens; a file with more is damaged.
  static constexpr size_t kMaxTokens = size_t{1} << 24;

  // The index of a token is its id. Of equal tokens the first wins; an empty one is a gap in the
  // ids, which no text matches.
  explicit Vocabulary(std::vector<std::string> tokens = {});

  size_t size() const { return tokens_.size(); }
  const std::string& token(TokenId id) const { return tokens_[static_cast<size_t>(id)]; }
  std::optional<TokenId> find(std::string_view token) const;
  // The length of the longest token in bytes.
  size_t longest() const { return longest_; }

 private:
  std::vector<std::string> tokens_;
  std::vector<uint32_t> slots_;  // id + 1 by hash; open addressing
  size_t longest_ = 0;
};

// Whether words that begin with "▁" can be encoded one by one: no token contains "▁" after another
// character, and "▁" itself is a token, so that no unknown token spans a word boundary.
bool words_are_apart(const Vocabulary& vocabulary);

}  // namespace luminal::tokens
