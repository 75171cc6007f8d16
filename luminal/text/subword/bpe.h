// Bpe: byte-pair encoding with an ordered list of merges, as in tokenizer.json.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "luminal/text/subword/pair_table.h"
#include "luminal/text/subword/vocabulary.h"

namespace luminal::tokens {

struct BpeOptions {
  std::optional<std::string> unknown;  // token for characters that the vocabulary lacks
  bool fuse_unknown = false;           // consecutive unknown characters become one token
  bool byte_fallback = false;          // encodes unknown characters as "<0x0A>" tokens
  bool ignore_merges = false;          // a word that is a token is taken as it is
  std::string continuing_prefix;       // before every character of a word except the first
  std::string word_suffix;             // after the last character of a word
};

class Bpe {
 public:
  // UserError if a merge names a token that doesn't exist, or its result doesn't.
  Bpe(std::shared_ptr<const Vocabulary> vocabulary,
      const std::vector<std::pair<std::string, std::string>>& merges, BpeOptions options);

  // Appends the tokens of a UTF-8 word. O(n log n).
  void encode(std::string_view word, std::vector<TokenId>& ids) const;

 private:
  void characters(std::string_view word, std::vector<TokenId>& ids) const;
  void merge(std::vector<TokenId>& ids) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  BpeOptions options_;
  std::optional<TokenId> unknown_;
  std::optional<std::array<TokenId, 256>> byte_ids_;
  PairTable merges_;
};

}  // namespace luminal::tokens
