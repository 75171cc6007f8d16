// SentencePieceBpe: byte-pair encoding by scores, as in SentencePiece's own models.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "luminal/text/subword/piece_type.h"
#include "luminal/text/subword/prefix_tree.h"
#include "luminal/text/subword/vocabulary.h"

namespace luminal::tokens {

class SentencePieceBpe {
 public:
  // UserError unless there is one score and one type per token.
  SentencePieceBpe(std::shared_ptr<const Vocabulary> vocabulary, Pieces pieces,
                   std::optional<TokenId> unknown);

  // Any two neighbours that form a piece may be merged, the highest score first, then the leftmost.
  // O(n log n). User-defined pieces are never split or merged.
  void encode(std::string_view text, std::vector<TokenId>& ids) const;

 private:
  struct Merger;
  void append(std::string_view text, std::vector<TokenId>& ids, bool& after_unknown) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  Pieces pieces_;
  std::optional<TokenId> unknown_;
  std::optional<std::array<TokenId, 256>> byte_ids_;
  PrefixTree user_defined_;
};

}  // namespace luminal::tokens
