// Unigram: the tokens of the highest total score that make up a text.
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
  // Ids that no text becomes, and those that win wherever their text stands (sentencepiece's
  // unused, control and user-defined pieces); by id, or empty.
  std::vector<bool> never;
  std::vector<bool> always;
};

class Unigram {
 public:
  // As many scores as tokens, all finite: UserError otherwise.
  Unigram(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores,
          UnigramOptions options);

  // Appends the tokens of a text. Linear in it, times the longest token. UserError for a character
  // that nothing covers when there is no unknown token.
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
