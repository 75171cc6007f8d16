// Reads tokenizer.model: a SentencePiece ModelProto, field by field (sentencepiece_model.proto).
#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/text/read/protobuf.h"
#include "luminal/text/read/read_tokenizer.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

using FieldKind = ProtobufField::Kind;

constexpr uint64_t kUnigram = 1;
constexpr uint64_t kBpe = 2;

struct Model {
  SentencePieceData data;
  std::optional<int64_t> bos = 1;
  std::optional<int64_t> eos = 2;
};

[[noreturn]] void fail(const std::string& source, const std::string& what) {
  throw UserError(
      fmt::format("'{}' isn't a sentencepiece model that can be used: {}", source, what));
}

// 1: piece, 2: score, 3: type.
void read_piece(std::string_view message, SentencePieceData& data) {
  ProtobufReader reader(message, data.source);
  ProtobufField field;
  std::string piece;
  float score = 0;
  uint64_t type = 1;
  while (reader.next(field)) {
    if (field.number == 1 && field.kind == FieldKind::Bytes) piece = field.bytes;
    if (field.number == 2 && field.kind == FieldKind::Fixed32) score = field.real();
    if (field.number == 3 && field.kind == FieldKind::Number) type = field.value;
  }
  if (type < 1 || type > 6) {
    fail(data.source, fmt::format("piece {} has type {}", data.tokens.size(), type));
  }
  if (piece.empty() || !is_utf8(piece)) {
    fail(data.source, fmt::format("piece {} is empty or isn't UTF-8", data.tokens.size()));
  }
  if (data.tokens.size() >= Vocabulary::kMaxTokens) fail(data.source, "it has too many pieces");
  data.tokens.push_back(std::move(piece));
  data.pieces.scores.push_back(score);
  data.pieces.types.push_back(static_cast<PieceType>(type));
}

// 3: model_type, 24: treat_whitespace_as_suffix, 41: bos_id, 42: eos_id.
void read_trainer(std::string_view message, Model& model) {
  ProtobufReader reader(message, model.data.source);
  ProtobufField field;
  while (reader.next(field)) {
    if (field.kind != FieldKind::Number) continue;
    const auto number = static_cast<int64_t>(field.value);
    if (field.number == 3) {
      if (field.value != kUnigram && field.value != kBpe) {
        fail(model.data.source,
             fmt::format("its type is {}, which is neither unigram nor BPE; only "
                         "these can be read",
                         field.value));
      }
      model.data.unigram = field.value == kUnigram;
    }
    if (field.number == 24) model.data.space_is_suffix = field.value != 0;
    if (field.number == 41) model.bos = number;
    if (field.number == 42) model.eos = number;
  }
}

// 2: precompiled_charsmap, 3: add_dummy_prefix, 4: remove_extra_whitespaces, 5: escape_whitespaces.
void read_normalizer_spec(std::string_view message, SentencePieceData& data) {
  ProtobufReader reader(message, data.source);
  ProtobufField field;
  while (reader.next(field)) {
    if (field.number == 2 && field.kind == FieldKind::Bytes) data.charsmap = field.bytes;
    if (field.kind != FieldKind::Number) continue;
    if (field.number == 3) data.add_dummy_prefix = field.value != 0;
    if (field.number == 4) data.remove_extra_spaces = field.value != 0;
    if (field.number == 5 && field.value == 0) {
      fail(data.source, "it keeps spaces as they are, which isn't supported");
    }
  }
}

std::optional<TokenId> id_in(const std::optional<int64_t>& id, size_t n) {
  if (!id || *id < 0 || static_cast<size_t>(*id) >= n) return std::nullopt;
  return static_cast<TokenId>(*id);
}

}  // namespace

TokenizerParts read_sentencepiece(std::string_view bytes, const std::string& source) {
  Model model;
  SentencePieceData& data = model.data;
  data.source = source;
  data.unigram = true;
  data.remove_extra_spaces = true;
  ProtobufReader reader(bytes, source);
  ProtobufField field;
  while (reader.next(field)) {
    if (field.kind != FieldKind::Bytes) continue;
    if (field.number == 1) read_piece(field.bytes, data);
    if (field.number == 2) read_trainer(field.bytes, model);
    if (field.number == 3) read_normalizer_spec(field.bytes, data);
  }
  for (size_t id = 0; id < data.tokens.size(); ++id) {
    if (data.pieces.types[id] != PieceType::Unknown) continue;
    if (data.unknown) fail(source, "it has two unknown pieces");
    data.unknown = static_cast<TokenId>(id);
  }
  const size_t n = data.tokens.size();
  TokenizerParts parts = sentencepiece_parts(std::move(data));
  parts.bos = id_in(model.bos, n);
  parts.eos = id_in(model.eos, n);
  if (parts.bos) parts.before.push_back(*parts.bos);
  return parts;
}

}  // namespace luminal::tokens
