// WordPiece: the longest token a word starts with, then the longest that goes on, and so to its
// end.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/text/subword/vocabulary.h"

namespace luminal::tokens {

class WordPiece {
 public:
  // UserError when the vocabulary lacks the unknown token.
  WordPiece(std::shared_ptr<const Vocabulary> vocabulary, const std::string& unknown,
            std::string continuing_prefix, size_t max_characters);

  // Appends the tokens of a word; one unknown token for a word that can't be written in tokens, or
  // has more than `max_characters`.
  void encode(std::string_view word, std::vector<TokenId>& ids) const;

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  TokenId unknown_;
  std::string continuing_prefix_;
  size_t max_characters_;
};

}  // namespace luminal::tokens
