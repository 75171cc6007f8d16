// TokenizerParts: what a tokenizer is made of, whichever file it comes from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "luminal/text/added_tokens.h"
#include "luminal/text/bpe.h"
#include "luminal/text/decoder.h"
#include "luminal/text/normalizer.h"
#include "luminal/text/pre_tokenizer.h"
#include "luminal/text/sentencepiece_bpe.h"
#include "luminal/text/unigram.h"
#include "luminal/text/vocabulary.h"
#include "luminal/text/wordpiece.h"

namespace luminal::tokens {

using TokenModel = std::variant<Bpe, SentencePieceBpe, Unigram, WordPiece>;

struct TokenizerParts {
  std::string source;  // the file, for messages
  std::shared_ptr<const Vocabulary> vocabulary;
  AddedTokens added;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::shared_ptr<const TokenModel> model;
  std::vector<TokenId> before;  // special tokens that go around a text
  std::vector<TokenId> after;
  Decoder decoder;

  std::optional<TokenId> bos;
  std::optional<TokenId> eos;
  std::optional<TokenId> padding;
  std::string chat_template;
};

}  // namespace luminal::tokens
