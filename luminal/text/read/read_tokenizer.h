// Readers of tokenizer files: each validates what it reads and returns the parts of a tokenizer.
#pragma once

#include <string>
#include <string_view>

#include "luminal/text/tokenize/tokenizer_parts.h"
#include "luminal/text/vocabulary_data.h"

namespace luminal::tokens {

// tokenizer.json, with the contents of tokenizer_config.json or an empty text.
TokenizerParts read_json(std::string_view json, std::string_view config, const std::string& source);
// tokenizer.model.
TokenizerParts read_sentencepiece(std::string_view model, const std::string& source);
TokenizerParts read_vocabulary(const VocabularyData& data);

// A SentencePiece model, as files of two formats contain it.
struct SentencePieceData {
  std::string source;
  std::vector<std::string> tokens;
  Pieces pieces;
  bool unigram = false;
  std::optional<TokenId> unknown;
  std::string charsmap;
  bool add_dummy_prefix = true;
  bool remove_extra_spaces = false;
  bool space_is_suffix = false;
};
// Validates the model and builds its parts: control pieces become special tokens.
TokenizerParts sentencepiece_parts(SentencePieceData data);

}  // namespace luminal::tokens
