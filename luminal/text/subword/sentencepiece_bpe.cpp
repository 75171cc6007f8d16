#include "luminal/text/subword/sentencepiece_bpe.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <queue>
#include <string>

#include "luminal/base/errors.h"
#include "luminal/text/subword/byte_tokens.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

constexpr uint32_t kNoSymbol = 0xffffffffu;

struct Symbol {
  size_t begin;
  size_t length;  // 0 once merged into the previous symbol
  uint32_t previous;
  uint32_t next;
  bool whole;  // a user-defined piece, which is never merged
};

struct SymbolPair {
  float score;
  uint32_t left;
  uint32_t right;
  size_t length;  // of both; if it differs now, the pair is stale

  bool operator<(const SymbolPair& other) const {
    return score != other.score ? score < other.score : left > other.left;
  }
};

bool can_merge(PieceType type) {
  return type == PieceType::Normal || type == PieceType::UserDefined || type == PieceType::Unused;
}

}  // namespace

struct SentencePieceBpe::Merger {
  Merger(const SentencePieceBpe& of, std::string_view of_text) : model(of), text(of_text) {}

  void merge() {
    split();
    for (uint32_t i = 1; i < symbols.size(); ++i) consider(i - 1, i);
    while (!queue.empty()) {
      const SymbolPair best = queue.top();
      queue.pop();
      Symbol& left = symbols[best.left];
      Symbol& right = symbols[best.right];
      if (left.length == 0 || right.length == 0 || left.length + right.length != best.length) {
        continue;
      }
      left.length += right.length;
      left.next = right.next;
      if (right.next != kNoSymbol) symbols[right.next].previous = best.left;
      right.length = 0;
      consider(left.previous, best.left);
      consider(best.left, left.next);
    }
  }

  void split() {
    for (size_t at = 0; at < text.size();) {
      const auto user_defined = model.user_defined_.longest(text, at);
      const size_t length = user_defined ? user_defined->length : code_point_at(text, at).length;
      const auto index = static_cast<uint32_t>(symbols.size());
      const bool last = at + length == text.size();
      symbols.push_back({.begin = at,
                         .length = length,
                         .previous = index == 0 ? kNoSymbol : index - 1,
                         .next = last ? kNoSymbol : index + 1,
                         .whole = user_defined.has_value()});
      at += length;
    }
  }

  void consider(uint32_t left, uint32_t right) {
    if (left == kNoSymbol || right == kNoSymbol || symbols[left].whole || symbols[right].whole)
      return;
    const size_t length = symbols[left].length + symbols[right].length;
    if (length > model.vocabulary_->longest()) return;
    const std::string_view joined = text.substr(symbols[left].begin, length);
    const auto id = model.vocabulary_->find(joined);
    if (!id) return;
    const auto index = static_cast<size_t>(*id);
    if (!can_merge(model.pieces_.types[index])) return;
    queue.push({model.pieces_.scores[index], left, right, length});
    if (model.pieces_.types[index] == PieceType::Unused) {
      unused[joined] = symbols[left].length;
    }
  }

  // Splits a piece marked as unused back into the two parts it was merged from.
  template <typename Append>
  void expand(std::string_view piece, int depth, const Append& append) const {
    const auto parts = unused.find(piece);
    if (parts == unused.end() || depth > 100) return append(piece);
    expand(piece.substr(0, parts->second), depth + 1, append);
    expand(piece.substr(parts->second), depth + 1, append);
  }

  const SentencePieceBpe& model;
  std::string_view text;
  std::vector<Symbol> symbols;
  std::priority_queue<SymbolPair> queue;
  std::map<std::string_view, size_t> unused;  // from a piece to the length of its left part
};

SentencePieceBpe::SentencePieceBpe(std::shared_ptr<const Vocabulary> vocabulary, Pieces pieces,
                                   std::optional<TokenId> unknown)
    : vocabulary_(std::move(vocabulary)), pieces_(std::move(pieces)), unknown_(unknown) {
  const size_t n = vocabulary_->size();
  if (pieces_.scores.size() != n || pieces_.types.size() != n) {
    throw UserError(
        fmt::format("tokenizer: {} scores and {} types for {} tokens; the file is damaged",
                    pieces_.scores.size(), pieces_.types.size(), n));
  }
  std::vector<std::pair<std::string_view, uint32_t>> whole;
  for (size_t id = 0; id < n; ++id) {
    if (std::isnan(pieces_.scores[id])) {
      throw UserError(fmt::format("tokenizer: token {} has a score that isn't a number", id));
    }
    if (pieces_.types[id] == PieceType::UserDefined) {
      whole.emplace_back(vocabulary_->token(static_cast<TokenId>(id)), id);
    }
  }
  user_defined_ = PrefixTree(std::move(whole));
  byte_ids_ = byte_token_ids(*vocabulary_);
}

void SentencePieceBpe::encode(std::string_view text, std::vector<TokenId>& ids) const {
  Merger merger(*this, text);
  merger.merge();
  bool after_unknown = false;
  for (const Symbol& symbol : merger.symbols) {
    if (symbol.length == 0) continue;
    merger.expand(text.substr(symbol.begin, symbol.length), 0,
                  [&](std::string_view piece) { append(piece, ids, after_unknown); });
  }
}

void SentencePieceBpe::append(std::string_view text, std::vector<TokenId>& ids,
                              bool& after_unknown) const {
  const auto id = vocabulary_->find(text);
  if (id && id != unknown_) {
    ids.push_back(*id);
    after_unknown = false;
  } else if (byte_ids_) {
    for (char byte : text) ids.push_back((*byte_ids_)[static_cast<unsigned char>(byte)]);
    after_unknown = false;
  } else if (unknown_) {
    if (!after_unknown) ids.push_back(*unknown_);
    after_unknown = true;
  } else {
    throw UserError(fmt::format(
        "tokenizer: '{}' is in no token, and there is neither an unknown token nor one for bytes",
        text));
  }
}

}  // namespace luminal::tokens
