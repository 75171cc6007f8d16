// AddedTokens: tokens that are found in a text before any other step.
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
  bool special = false;      // decoding can skip it, and encoding can treat it as text
  bool normalized = false;   // matched in the normalised text instead of the raw text
  bool single_word = false;  // not inside a word
  bool strip_left = false;   // absorbs the spaces before it
  bool strip_right = false;  // absorbs the spaces after it
};

class AddedTokens {
 public:
  AddedTokens() = default;
  // `normalized_contents`: the normalised contents, one per token; empty if nothing changes.
  explicit AddedTokens(std::vector<AddedToken> tokens,
                       const std::vector<std::string>& normalized_contents = {});

  // A part of the text; a token if `token` isn't null.
  struct Part {
    std::string_view text;
    const AddedToken* token;
  };
  // Splits the text at the tokens that are matched in raw or in normalised text. A special token
  // isn't matched if it overlaps a range of `plain` (sorted, without overlap).
  std::vector<Part> split(std::string_view text, bool normalized, bool with_special,
                          std::span<const TextRange> plain = {}) const;

  const std::vector<AddedToken>& tokens() const { return tokens_; }
  // The largest id plus one; 0 if there are none.
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
