// WordPiece: greedy longest match: the longest token that a word starts with, then the longest
// continuation, up to its end.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/text/subword/vocabulary.h"

namespace luminal::tokens {

class WordPiece {
 public:
  // UserError if the vocabulary lacks the unknown token.
  WordPiece(std::shared_ptr<const Vocabulary> vocabulary, const std::string& unknown,
            std::string continuing_prefix, size_t max_characters);

  // Appends the tokens of a word; one unknown token if the word can't be composed of tokens or has
  // more than `max_characters`.
  void encode(std::string_view word, std::vector<TokenId>& ids) const;

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  TokenId unknown_;
  std::string continuing_prefix_;
  size_t max_characters_;
};

}  // namespace luminal::tokens
