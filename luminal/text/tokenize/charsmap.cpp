#include "luminal/text/tokenize/charsmap.h"

#include <cstring>

#include "luminal/base/errors.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

// A unit of the trie (Darts): a label in the low byte, or a value if the top bit is set.
uint32_t label(uint32_t unit) { return unit & ((1u << 31) | 0xFF); }
uint32_t value(uint32_t unit) { return unit & ((1u << 31) - 1); }
bool has_leaf(uint32_t unit) { return (unit >> 8) & 1; }
uint32_t offset(uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); }

}  // namespace

Charsmap::Charsmap(std::string_view blob) {
  uint32_t trie_bytes = 0;
  if (blob.size() < sizeof(trie_bytes)) {
    throw UserError("tokenizer: the precompiled charsmap is cut short");
  }
  std::memcpy(&trie_bytes, blob.data(), sizeof(trie_bytes));
  blob.remove_prefix(sizeof(trie_bytes));
  if (trie_bytes > blob.size() || trie_bytes % sizeof(uint32_t) != 0 || trie_bytes == 0) {
    throw UserError(
        "tokenizer: the precompiled charsmap has a trie of the wrong size; it is damaged");
  }
  units_.resize(trie_bytes / sizeof(uint32_t));
  std::memcpy(units_.data(), blob.data(), trie_bytes);
  texts_ = blob.substr(trie_bytes);
  texts_.push_back('\0');
}

Charsmap::Prefix Charsmap::prefix_at(std::string_view text, size_t at) const {
  size_t longest = 0;
  uint32_t found = 0;
  uint32_t node = offset(units_[0]);
  for (size_t i = at; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (node >= units_.size() || label(units_[node]) != byte) break;
    const uint32_t unit = units_[node];
    node ^= offset(unit);
    if (node >= units_.size()) break;
    if (has_leaf(unit)) {
      longest = i + 1 - at;
      found = value(units_[node]);
    }
  }
  if (longest > 0 && found < texts_.size()) {
    return {std::string_view(texts_.data() + found), longest};
  }
  const CodePoint c = code_point_at(text, at);
  if (!c.valid) return {kReplacementText, 1};
  return {text.substr(at, c.length), c.length};
}

}  // namespace luminal::tokens
