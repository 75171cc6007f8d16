#include "luminal/text/subword/vocabulary.h"

#include <algorithm>
#include <bit>

#include "luminal/base/errors.h"
#include "luminal/base/hash.h"

namespace luminal::tokens {

Vocabulary::Vocabulary(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {
  if (tokens_.size() > kMaxTokens) {
    throw UserError("tokenizer: a vocabulary of more than 16 million tokens; the file is damaged");
  }
  slots_.assign(std::bit_ceil(tokens_.size() * 2 + 1), 0);
  for (size_t id = 0; id < tokens_.size(); ++id) {
    if (tokens_[id].empty() || find(tokens_[id])) continue;
    longest_ = std::max(longest_, tokens_[id].size());
    size_t slot = base::hash(tokens_[id]) & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<uint32_t>(id) + 1;
  }
}

std::optional<TokenId> Vocabulary::find(std::string_view token) const {
  size_t slot = base::hash(token) & (slots_.size() - 1);
  while (slots_[slot] != 0) {
    const uint32_t id = slots_[slot] - 1;
    if (tokens_[id] == token) return static_cast<TokenId>(id);
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return std::nullopt;
}

bool words_are_apart(const Vocabulary& vocabulary) {
  constexpr std::string_view kMark = "\xE2\x96\x81";
  if (!vocabulary.find(kMark)) return false;
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    std::string_view rest = vocabulary.token(static_cast<TokenId>(id));
    while (rest.starts_with(kMark)) rest.remove_prefix(kMark.size());
    if (rest.find(kMark) != rest.npos) return false;
  }
  return true;
}

}  // namespace luminal::tokens
