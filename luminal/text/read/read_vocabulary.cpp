// Builds a tokenizer from the metadata of a model file.
#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/text/read/named_pre_tokenizers.h"
#include "luminal/text/read/read_tokenizer.h"
#include "luminal/text/unicode/unicode.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

[[noreturn]] void fail(const VocabularyData& data, const std::string& what) {
  throw UserError(fmt::format("'{}': its tokenizer {}", data.source, what));
}

void check(const VocabularyData& data) {
  if (data.tokens.empty()) fail(data, "has no tokens");
  if (data.tokens.size() > Vocabulary::kMaxTokens) fail(data, "has too many tokens");
  const auto check_count = [&](size_t n, const char* what) {
    if (n != 0 && n != data.tokens.size()) {
      fail(data, fmt::format("has {} tokens but {} {}; the file is damaged", data.tokens.size(), n,
                             what));
    }
  };
  check_count(data.scores.size(), "scores");
  check_count(data.types.size(), "types");
  for (int32_t type : data.types) {
    if (type < 1 || type > 6) fail(data, fmt::format("has a token of type {}", type));
  }
}

// An id from the metadata; UserError if it is out of range.
std::optional<TokenId> checked(const VocabularyData& data, std::optional<uint32_t> id,
                               const char* what) {
  if (!id) return std::nullopt;
  if (*id >= data.tokens.size()) {
    fail(data,
         fmt::format("has {} as its {} token, but only {} tokens", *id, what, data.tokens.size()));
  }
  return static_cast<TokenId>(*id);
}

// Control tokens are special; user-defined tokens are also found in the text.
std::vector<AddedToken> added_tokens(const VocabularyData& data) {
  std::vector<AddedToken> added;
  for (size_t id = 0; id < data.types.size(); ++id) {
    const bool control = data.types[id] == VocabularyData::kControl;
    if (!control && data.types[id] != VocabularyData::kUserDefined) continue;
    added.push_back(
        {.id = static_cast<TokenId>(id), .content = data.tokens[id], .special = control});
  }
  return added;
}

TokenizerParts byte_level(const VocabularyData& data) {
  TokenizerParts parts;
  parts.vocabulary = std::make_shared<const Vocabulary>(data.tokens);
  std::vector<std::pair<std::string, std::string>> merges;
  merges.reserve(data.merges.size());
  for (const std::string& merge : data.merges) {
    const size_t space = merge.find(' ', 1);
    if (space == merge.npos || space + 1 == merge.size()) {
      fail(data,
           fmt::format("has a merge that isn't two tokens: '{}'", valid_utf8(merge.substr(0, 60))));
    }
    merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
  NamedPreTokenizer named = named_pre_tokenizer(data.pre_tokenizer);
  parts.normalizer = std::move(named.normalizer);
  parts.pre_tokenizer = std::move(named.pre_tokenizer);
  BpeOptions options;
  options.ignore_merges = named.ignore_merges;
  parts.model = std::make_shared<const TokenModel>(Bpe(parts.vocabulary, merges, options));
  parts.added = AddedTokens(added_tokens(data));
  parts.decoder.steps.emplace_back(DecodeByteLevel{});
  return parts;
}

// GGUF marks the beginnings of words and drops WordPiece's "##"; this restores the original form.
std::string word_piece_token(const std::string& token) {
  if (token.starts_with(kSpaceMark)) return token.substr(kSpaceMark.size());
  if (token.starts_with('[') && token.ends_with(']')) return token;
  return "##" + token;
}

TokenizerParts word_piece(const VocabularyData& data) {
  std::vector<std::string> tokens;
  for (const std::string& token : data.tokens) tokens.push_back(word_piece_token(token));
  const auto unknown = checked(data, data.unknown, "unknown");
  if (!unknown) fail(data, "has no unknown token");
  const std::string unknown_text = tokens[static_cast<size_t>(*unknown)];
  TokenizerParts parts;
  parts.vocabulary = std::make_shared<const Vocabulary>(std::move(tokens));
  parts.model =
      std::make_shared<const TokenModel>(WordPiece(parts.vocabulary, unknown_text, "##", 100));
  parts.normalizer.steps.emplace_back(BertCleaning{});
  parts.pre_tokenizer.steps.emplace_back(SplitCharacters{is_white_space, SplitBehavior::Removed});
  parts.pre_tokenizer.steps.emplace_back(
      SplitCharacters{is_bert_punctuation, SplitBehavior::Isolated});
  parts.added = AddedTokens(added_tokens(data));
  parts.decoder.steps.emplace_back(DecodeWordPiece{});
  return parts;
}

TokenizerParts sentencepiece(const VocabularyData& data, bool unigram) {
  SentencePieceData pieces;
  pieces.source = data.source;
  pieces.tokens = data.tokens;
  pieces.pieces.scores = data.scores;
  if (data.scores.empty()) fail(data, "has no scores, which its kind needs");
  for (int32_t type : data.types) pieces.pieces.types.push_back(static_cast<PieceType>(type));
  if (data.types.empty()) pieces.pieces.types.assign(data.tokens.size(), PieceType::Normal);
  pieces.unigram = unigram;
  pieces.unknown = checked(data, data.unknown, "unknown");
  pieces.charsmap = data.precompiled_charsmap;
  pieces.add_dummy_prefix = data.add_space_prefix.value_or(true);
  pieces.remove_extra_spaces = data.remove_extra_whitespaces.value_or(false);
  return sentencepiece_parts(std::move(pieces));
}

TokenizerParts parts_of(const VocabularyData& data) {
  if (data.model == "gpt2") return byte_level(data);
  if (data.model == "llama") return sentencepiece(data, false);
  if (data.model == "t5") return sentencepiece(data, true);
  if (data.model == "bert") return word_piece(data);
  fail(data, fmt::format("is of the kind '{}', which isn't one of gpt2, llama, t5 and bert",
                         data.model.substr(0, 60)));
}

// The special tokens around a text: as the file says, or the default of the model's type.
void add_special(const VocabularyData& data, TokenizerParts& parts) {
  const bool is_bert = data.model == "bert";
  const auto first = is_bert && data.cls ? checked(data, data.cls, "first") : parts.bos;
  const auto separator = checked(data, data.separator, "separator");
  const auto last = is_bert && separator ? separator : parts.eos;
  const bool add_first = data.add_bos.value_or(is_bert || data.model == "llama");
  const bool add_last = data.add_eos.value_or(is_bert || data.model == "t5");
  if (add_first && first) parts.before.push_back(*first);
  if (add_last && last) parts.after.push_back(*last);
}

}  // namespace

TokenizerParts read_vocabulary(const VocabularyData& data) {
  check(data);
  TokenizerParts parts = parts_of(data);
  parts.source = data.source;
  parts.bos = checked(data, data.bos, "first");
  parts.eos = checked(data, data.eos, "last");
  parts.padding = checked(data, data.padding, "padding");
  parts.chat_template = data.chat_template;
  add_special(data, parts);
  return parts;
}

}  // namespace luminal::tokens
