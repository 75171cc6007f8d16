#include "luminal/text/subword/wordpiece.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/errors.h"

namespace luminal::tokens {
namespace {

bool starts_character(std::string_view text, size_t at) {
  return at == text.size() || (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
}

}  // namespace

WordPiece::WordPiece(std::shared_ptr<const Vocabulary> vocabulary, const std::string& unknown,
                     std::string continuing_prefix, size_t max_characters)
    : vocabulary_(std::move(vocabulary)),
      continuing_prefix_(std::move(continuing_prefix)),
      max_characters_(max_characters) {
  const auto id = vocabulary_->find(unknown);
  if (!id) {
    throw UserError(fmt::format(
        "tokenizer: the unknown token '{}' isn't in the vocabulary; add it there", unknown));
  }
  unknown_ = *id;
}

void WordPiece::encode(std::string_view word, std::vector<TokenId>& ids) const {
  size_t characters = 0;
  for (size_t at = 0; at < word.size(); ++at) characters += starts_character(word, at);
  if (characters > max_characters_) {
    ids.push_back(unknown_);
    return;
  }
  const size_t before = ids.size();
  std::string candidate;
  for (size_t begin = 0; begin < word.size();) {
    candidate = begin == 0 ? std::string() : continuing_prefix_;
    const size_t prefix = candidate.size();
    const size_t longest = vocabulary_->longest();
    size_t length = std::min(word.size() - begin, longest > prefix ? longest - prefix : 0);
    candidate += word.substr(begin, length);
    std::optional<TokenId> found;
    for (; length > 0; --length) {
      if (!starts_character(word, begin + length)) continue;
      found = vocabulary_->find(std::string_view(candidate).substr(0, prefix + length));
      if (found) break;
    }
    if (!found) {
      ids.resize(before);
      ids.push_back(unknown_);
      return;
    }
    ids.push_back(*found);
    begin += length;
  }
}

}  // namespace luminal::tokens
