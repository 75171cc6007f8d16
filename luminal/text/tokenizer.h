// Tokenizer: text to the ids a model takes, and back.
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
  // The special tokens that the tokenizer puts around a text, as a beginning of text.
  bool add_special = true;
  // Special tokens that are written out in the text ("<|im_end|>") become those tokens; otherwise
  // they are text like any other, which is what a text from someone else should be.
  bool parse_special = true;
  // Parts of the text where special tokens aren't parsed: a special token is one only where all of
  // it lies outside of these ranges. Sorted, without overlap; ChatText::from_messages.
  std::span<const TextRange> plain = {};
  // The most tokens, with the special ones around the text: a longer text loses its end. 0: any
  // number. UserError where the special ones alone are more.
  size_t longest = 0;
};

struct DecodeOptions {
  bool skip_special = false;
};

// A cheap handle: copies share what was read. All functions may be called from many threads.
class LUMINAL_API Tokenizer {
 public:
  // A tokenizer.json, a tokenizer.model (sentencepiece), or a folder that holds one of them (looked
  // for in this order) and may hold a tokenizer_config.json. UserError for a file that can't be
  // read or breaks the rules.
  static Tokenizer open(const std::string& path);
  // The text of a tokenizer.json, with that of its tokenizer_config.json or nothing. What it says
  // about truncation and padding is left to the caller.
  static Tokenizer from_json(std::string_view json, std::string_view config,
                             const std::string& source);
  // The bytes of a tokenizer.model, a serialized sentencepiece ModelProto.
  static Tokenizer from_sentencepiece(std::string_view model, const std::string& source);
  // What a reader of model files found in its metadata.
  static Tokenizer from_vocabulary(const VocabularyData& data);

  // Text that isn't UTF-8 has U+FFFD where it isn't.
  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options = {}) const;
  // UserError for an id that isn't in the vocabulary.
  std::string decode(std::span<const TokenId> ids, const DecodeOptions& options = {}) const;

  // One more than the largest id.
  size_t size() const;
  // A token as the vocabulary spells it; empty for an id that is none.
  std::string token(TokenId id) const;
  std::optional<TokenId> id(std::string_view token) const;
  // Whether decoding can leave it out.
  bool is_special(TokenId id) const;

  std::optional<TokenId> bos() const;
  std::optional<TokenId> eos() const;
  std::optional<TokenId> padding() const;
  // As the files hold it, for ChatTemplate; empty where they hold none.
  const std::string& chat_template() const;

 private:
  explicit Tokenizer(std::shared_ptr<const tokens::TokenizerParts> parts);

  std::shared_ptr<const tokens::TokenizerParts> parts_;
};

}  // namespace luminal
