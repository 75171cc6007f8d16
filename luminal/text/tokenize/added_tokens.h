// AddedTokens: tokens that are found in a text before anything else happens to it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/text/subword/prefix_tree.h"
#include "luminal/text/text_range.h"
#include "luminal/text/token_id.h"

namespace luminal::tokens {

struct AddedToken {
  TokenId id = 0;
  std::string content;
  bool special = false;      // decoding can leave it out, and encoding can take it for text
  bool normalized = false;   // looked for in the normalised text, not in the raw one
  bool single_word = false;  // not inside a word
  bool strip_left = false;   // takes the spaces before it along
  bool strip_right = false;  // and those after it
};

class AddedTokens {
 public:
  AddedTokens() = default;
  // The contents as the normaliser makes them, as many as tokens; none where nothing changes.
  explicit AddedTokens(std::vector<AddedToken> tokens,
                       const std::vector<std::string>& normalized_contents = {});

  // A stretch of text; a token where `token` isn't null.
  struct Part {
    std::string_view text;
    const AddedToken* token;
  };
  // The text in parts, by the tokens that are looked for in raw or in normalised text. A special
  // token isn't one where it reaches into a range of `plain` (sorted, without overlap).
  std::vector<Part> split(std::string_view text, bool normalized, bool with_special,
                          std::span<const TextRange> plain = {}) const;

  const std::vector<AddedToken>& tokens() const { return tokens_; }
  // One more than the largest id; 0 where there are none.
  size_t end() const {
    return by_id_.empty() ? 0 : static_cast<size_t>(by_id_.rbegin()->first) + 1;
  }
  const AddedToken* find(TokenId id) const;
  const AddedToken* find(std::string_view content) const;

 private:
  std::vector<AddedToken> tokens_;
  std::map<TokenId, size_t> by_id_;
  PrefixTree raw_;
  PrefixTree normalized_;
};

}  // namespace luminal::tokens
