// SentencePieceBpe: byte-pair encoding by scores, as sentencepiece's own models do it.
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
  // As many scores and types as tokens: UserError otherwise.
  SentencePieceBpe(std::shared_ptr<const Vocabulary> vocabulary, Pieces pieces,
                   std::optional<TokenId> unknown);

  // Any two neighbours that make up a piece may merge, the highest score first, then the leftmost.
  // O(n log n). User-defined pieces are kept whole.
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
