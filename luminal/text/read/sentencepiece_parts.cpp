// Builds a tokenizer from a SentencePiece model, whichever file it came from.
#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/errors.h"
#include "luminal/text/read/read_tokenizer.h"

namespace luminal::tokens {
namespace {

void check(const SentencePieceData& data) {
  const size_t n = data.tokens.size();
  if (n == 0) throw UserError(fmt::format("'{}' has no pieces; it isn't a tokenizer", data.source));
  if (data.pieces.scores.size() != n || data.pieces.types.size() != n) {
    throw UserError(
        fmt::format("'{}' has {} tokens, {} scores and {} types; their numbers must be equal",
                    data.source, n, data.pieces.scores.size(), data.pieces.types.size()));
  }
  if (data.unknown && static_cast<size_t>(*data.unknown) >= n) {
    throw UserError(fmt::format("'{}' has the unknown token {}, but only {} tokens", data.source,
                                *data.unknown, n));
  }
}

std::vector<bool> ids_of(const Pieces& pieces, std::initializer_list<PieceType> types) {
  std::vector<bool> ids;
  for (PieceType type : pieces.types) {
    ids.push_back(std::find(types.begin(), types.end(), type) != types.end());
  }
  return ids;
}

TokenModel model_of(const SentencePieceData& data, std::shared_ptr<const Vocabulary> vocabulary) {
  if (!data.unigram) return SentencePieceBpe(std::move(vocabulary), data.pieces, data.unknown);
  std::vector<double> scores(data.pieces.scores.begin(), data.pieces.scores.end());
  UnigramOptions options;
  options.unknown = data.unknown;
  options.byte_fallback = std::find(data.pieces.types.begin(), data.pieces.types.end(),
                                    PieceType::Byte) != data.pieces.types.end();
  options.never = ids_of(
      data.pieces, {PieceType::Control, PieceType::Unknown, PieceType::Unused, PieceType::Byte});
  options.always = ids_of(data.pieces, {PieceType::UserDefined});
  return Unigram(std::move(vocabulary), std::move(scores), std::move(options));
}

}  // namespace

TokenizerParts sentencepiece_parts(SentencePieceData data) {
  check(data);
  TokenizerParts parts;
  parts.source = data.source;
  parts.vocabulary = std::make_shared<const Vocabulary>(data.tokens);
  parts.model = std::make_shared<const TokenModel>(model_of(data, parts.vocabulary));

  std::vector<AddedToken> special;
  std::vector<std::pair<std::string_view, uint32_t>> user_defined;
  for (size_t id = 0; id < data.tokens.size(); ++id) {
    const PieceType type = data.pieces.types[id];
    const auto token = static_cast<TokenId>(id);
    if (type == PieceType::Control || token == data.unknown) {
      special.push_back({.id = token, .content = data.tokens[id], .special = true});
    } else if (type == PieceType::UserDefined) {
      user_defined.emplace_back(parts.vocabulary->token(token), static_cast<uint32_t>(id));
    }
  }
  parts.added = AddedTokens(std::move(special));
  SentencePieceSpaces spaces{.map = {},
                             .add_dummy_prefix = data.add_dummy_prefix,
                             .remove_extra_spaces = data.remove_extra_spaces,
                             .space_is_suffix = data.space_is_suffix,
                             .user_defined = {}};
  if (!data.charsmap.empty()) spaces.map = std::make_shared<const Charsmap>(data.charsmap);
  if (!user_defined.empty()) {
    spaces.user_defined = std::make_shared<const PrefixTree>(std::move(user_defined));
  }
  parts.normalizer.steps.emplace_back(std::move(spaces));
  if (!data.unigram && !data.space_is_suffix && words_are_apart(*parts.vocabulary)) {
    parts.pre_tokenizer.steps.emplace_back(SplitBeforeMarks{});
  }
  parts.decoder.steps.emplace_back(DecodeSentencePiece{
      .unknown = data.unknown ? data.tokens[static_cast<size_t>(*data.unknown)] : std::string(),
      .drop_first = data.add_dummy_prefix || data.remove_extra_spaces,
      .drop_all_at_start = data.remove_extra_spaces});
  return parts;
}

}  // namespace luminal::tokens
