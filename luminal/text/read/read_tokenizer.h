// Readers of tokenizer files: each checks all it reads and gives the parts of a tokenizer.
#pragma once

#include <string>
#include <string_view>

#include "luminal/text/tokenize/tokenizer_parts.h"
#include "luminal/text/vocabulary_data.h"

namespace luminal::tokens {

// tokenizer.json, with the text of tokenizer_config.json or nothing.
TokenizerParts read_json(std::string_view json, std::string_view config, const std::string& source);
// tokenizer.model.
TokenizerParts read_sentencepiece(std::string_view model, const std::string& source);
TokenizerParts read_vocabulary(const VocabularyData& data);

// A sentencepiece model as files of two formats hold it.
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
// Checks it and puts its parts together: control pieces become special tokens.
TokenizerParts sentencepiece_parts(SentencePieceData data);

}  // namespace luminal::tokens
