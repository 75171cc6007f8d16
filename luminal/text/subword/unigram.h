// Unigram: the segmentation of a text into tokens with the highest total score.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "luminal/text/subword/prefix_tree.h"
#include "luminal/text/subword/vocabulary.h"

namespace luminal::tokens {

struct UnigramOptions {
  std::optional<TokenId> unknown;
  bool byte_fallback = false;
  // By id, or empty: tokens that no text is encoded to, and tokens that win wherever their text
  // occurs (SentencePiece's unused, control and user-defined pieces).
  std::vector<bool> never;
  std::vector<bool> always;
};

class Unigram {
 public:
  // UserError unless there is one finite score per token.
  Unigram(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores,
          UnigramOptions options);

  // Appends the tokens of a text in O(text · longest token). UserError for a character that no
  // token covers if there is no unknown token.
  void encode(std::string_view text, std::vector<TokenId>& ids) const;

 private:
  struct Best;
  void relax(std::vector<Best>& best, std::string_view text, size_t begin) const;
  void append_unknown(std::string_view text, bool after_unknown, std::vector<TokenId>& ids) const;
  double score(TokenId id, size_t length) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<double> scores_;
  UnigramOptions options_;
  double unknown_score_ = 0;
  double max_score_ = 0;
  std::optional<std::array<TokenId, 256>> byte_ids_;
  PrefixTree tree_;
};

}  // namespace luminal::tokens
