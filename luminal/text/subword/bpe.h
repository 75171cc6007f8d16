// Bpe: byte-pair encoding with an ordered list of merges, as tokenizer.json holds it.
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
  std::optional<std::string> unknown;  // the token for what the vocabulary lacks
  bool fuse_unknown = false;           // unknown characters that follow one another are one token
  bool byte_fallback = false;          // what it lacks becomes "<0x0A>" tokens
  bool ignore_merges = false;          // a word that is a token is that token
  std::string continuing_prefix;       // before every character of a word but its first
  std::string word_suffix;             // after its last
};

class Bpe {
 public:
  // UserError when a merge names a token that isn't there, or joins two to one that isn't.
  Bpe(std::shared_ptr<const Vocabulary> vocabulary,
      const std::vector<std::pair<std::string, std::string>>& merges, BpeOptions options);

  // Appends the tokens of a word, which is UTF-8. O(n log n).
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
