// Charsmap: the normalisation that sentencepiece compiles into its models.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::tokens {

// A double-array trie of what is replaced, and the texts it is replaced with. Made by someone else:
// every step of the trie is checked.
class Charsmap {
 public:
  // UserError for a blob whose parts don't fit.
  explicit Charsmap(std::string_view blob);

  struct Prefix {
    std::string_view text;  // what the prefix becomes
    size_t length;          // of the prefix, in bytes
  };
  // The longest prefix of the text at `at` that is replaced; otherwise one character as it is, and
  // U+FFFD for a byte that isn't UTF-8.
  Prefix prefix_at(std::string_view text, size_t at) const;

 private:
  std::vector<uint32_t> units_;
  std::string texts_;  // each ends with a zero
};

}  // namespace luminal::tokens
