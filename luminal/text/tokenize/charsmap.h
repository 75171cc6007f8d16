// Charsmap: the normalisation table compiled into SentencePiece models.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::tokens {

// A double-array trie of the texts to replace, and their replacements. Untrusted data: every step
// of the trie is checked.
class Charsmap {
 public:
  // UserError for a malformed blob.
  explicit Charsmap(std::string_view blob);

  struct Prefix {
    std::string_view text;  // the replacement
    size_t length;          // of the prefix, in bytes
  };
  // The longest prefix of the text at `at` that has a replacement; otherwise one unchanged
  // character, or U+FFFD for an invalid byte.
  Prefix prefix_at(std::string_view text, size_t at) const;

 private:
  std::vector<uint32_t> units_;
  std::string texts_;  // zero-terminated
};

}  // namespace luminal::tokens
