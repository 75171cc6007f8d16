// Tokenizer: encodes text as token ids and decodes them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/text/text_range.h"
#include "luminal/text/token_id.h"
#include "luminal/text/vocabulary_data.h"

namespace luminal {

namespace tokens {
struct TokenizerParts;
}

struct EncodeOptions {
  // Add the tokenizer's special tokens around the text, such as a beginning-of-text token.
  bool add_special = true;
  // Special tokens spelt out in the text ("<|im_end|>") become those tokens. If false they are
  // plain text, which is the safe choice for untrusted text.
  bool parse_special = true;
  // Ranges in which special tokens aren't parsed: a special token must lie completely outside of
  // them. Sorted, without overlap; see ChatText::from_messages.
  std::span<const TextRange> plain = {};
  // Maximum number of tokens, including special ones; longer text is truncated at its end. 0:
  // unlimited. UserError if the special tokens alone exceed it.
  size_t longest = 0;
};

struct DecodeOptions {
  bool skip_special = false;
};

// A cheap handle: copies share the data. Thread-safe.
class LUMINAL_API Tokenizer {
 public:
  // Opens a tokenizer.json, a tokenizer.model (SentencePiece), or a folder that holds one of them
  // (tried in this order) and optionally a tokenizer_config.json. UserError for a file that can't
  // be read or is invalid.
  static Tokenizer open(const std::string& path);
  // The contents of a tokenizer.json and, optionally, of a tokenizer_config.json. Ignores their
  // truncation and padding settings.
  static Tokenizer from_json(std::string_view json, std::string_view config,
                             const std::string& source);
  // The bytes of a tokenizer.model, a serialised SentencePiece ModelProto.
  static Tokenizer from_sentencepiece(std::string_view model, const std::string& source);
  // From the metadata of a model file.
  static Tokenizer from_vocabulary(const VocabularyData& data);

  // Invalid UTF-8 is replaced by U+FFFD.
  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options = {}) const;
  // UserError for an id that isn't in the vocabulary.
  std::string decode(std::span<const TokenId> ids, const DecodeOptions& options = {}) const;

  // The largest id plus one.
  size_t size() const;
  // The token as spelt in the vocabulary; empty for an unknown id.
  std::string token(TokenId id) const;
  std::optional<TokenId> id(std::string_view token) const;
  // Whether DecodeOptions::skip_special omits it.
  bool is_special(TokenId id) const;

  std::optional<TokenId> bos() const;
  std::optional<TokenId> eos() const;
  std::optional<TokenId> padding() const;
  // The source of the chat template, for ChatTemplate; empty if the files have none.
  const std::string& chat_template() const;

 private:
  explicit Tokenizer(std::shared_ptr<const tokens::TokenizerParts> parts);

  std::shared_ptr<const tokens::TokenizerParts> parts_;
};

}  // namespace luminal
