// TokenizerParts: the components of a tokenizer, whichever file it comes from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "luminal/text/subword/bpe.h"
#include "luminal/text/subword/sentencepiece_bpe.h"
#include "luminal/text/subword/unigram.h"
#include "luminal/text/subword/vocabulary.h"
#include "luminal/text/subword/wordpiece.h"
#include "luminal/text/tokenize/added_tokens.h"
#include "luminal/text/tokenize/decoder.h"
#include "luminal/text/tokenize/normalizer.h"
#include "luminal/text/tokenize/pre_tokenizer.h"

namespace luminal::tokens {

using TokenModel = std::variant<Bpe, SentencePieceBpe, Unigram, WordPiece>;

struct TokenizerParts {
  std::string source;  // the file, for messages
  std::shared_ptr<const Vocabulary> vocabulary;
  AddedTokens added;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::shared_ptr<const TokenModel> model;
  std::vector<TokenId> before;  // special tokens around a text
  std::vector<TokenId> after;
  Decoder decoder;

  std::optional<TokenId> bos;
  std::optional<TokenId> eos;
  std::optional<TokenId> padding;
  std::string chat_template;
};

}  // namespace luminal::tokens
