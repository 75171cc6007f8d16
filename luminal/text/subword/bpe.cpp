#include "luminal/text/subword/bpe.h"

#include <fmt/format.h>

#include <queue>

#include "luminal/base/errors.h"
#include "luminal/text/subword/byte_tokens.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

constexpr uint32_t kNoPlace = 0xffffffffu;

// Two neighbours that may be merged.
struct MergeCandidate {
  uint32_t rank;
  uint32_t left;  // index of the left symbol
  TokenId result;

  // std::priority_queue pops the maximum: the lowest rank, then the leftmost.
  bool operator<(const MergeCandidate& other) const {
    return rank != other.rank ? rank > other.rank : left > other.left;
  }
};

TokenId must_find(const Vocabulary& vocabulary, const std::string& token) {
  const auto id = vocabulary.find(token);
  if (!id) {
    throw UserError(fmt::format(
        "tokenizer: a merge names the token '{}', which the vocabulary lacks; the file is damaged",
        valid_utf8(token.substr(0, 60))));
  }
  return *id;
}

}  // namespace

Bpe::Bpe(std::shared_ptr<const Vocabulary> vocabulary,
         const std::vector<std::pair<std::string, std::string>>& merges, BpeOptions options)
    : vocabulary_(std::move(vocabulary)), options_(std::move(options)), merges_(merges.size()) {
  if (options_.unknown) unknown_ = vocabulary_->find(*options_.unknown);
  if (options_.byte_fallback) byte_ids_ = byte_token_ids(*vocabulary_);
  for (size_t i = 0; i < merges.size(); ++i) {
    const auto& [left, right] = merges[i];
    std::string_view rest = right;
    if (rest.starts_with(options_.continuing_prefix)) {
      rest.remove_prefix(options_.continuing_prefix.size());
    }
    const TokenId result = must_find(*vocabulary_, left + std::string(rest));
    merges_.add(must_find(*vocabulary_, left), must_find(*vocabulary_, right),
                {static_cast<uint32_t>(i), result});
  }
}

void Bpe::encode(std::string_view word, std::vector<TokenId>& ids) const {
  if (options_.ignore_merges) {
    if (const auto id = vocabulary_->find(word)) {
      ids.push_back(*id);
      return;
    }
  }
  std::vector<TokenId> symbols;
  symbols.reserve(word.size());
  characters(word, symbols);
  merge(symbols);
  ids.insert(ids.end(), symbols.begin(), symbols.end());
}

void Bpe::characters(std::string_view word, std::vector<TokenId>& ids) const {
  const bool plain = options_.continuing_prefix.empty() && options_.word_suffix.empty();
  bool last_is_unknown = false;
  std::string decorated;
  for (size_t at = 0; at < word.size();) {
    const size_t length = code_point_at(word, at).length;
    std::string_view symbol = word.substr(at, length);
    if (!plain) {
      decorated = at == 0 ? std::string() : options_.continuing_prefix;
      decorated += symbol;
      if (at + length == word.size()) decorated += options_.word_suffix;
      symbol = decorated;
    }
    if (const auto id = vocabulary_->find(symbol)) {
      ids.push_back(*id);
      last_is_unknown = false;
    } else if (byte_ids_) {
      for (char byte : symbol) ids.push_back((*byte_ids_)[static_cast<unsigned char>(byte)]);
      last_is_unknown = false;
    } else if (unknown_) {
      if (!options_.fuse_unknown || !last_is_unknown) ids.push_back(*unknown_);
      last_is_unknown = true;
    }
    at += length;
  }
}

void Bpe::merge(std::vector<TokenId>& ids) const {
  if (ids.size() < 2) return;
  // Symbols form a linked list; a symbol that was merged away has the id -1.
  const auto n = static_cast<uint32_t>(ids.size());
  std::vector<uint32_t> previous(n);
  std::vector<uint32_t> next(n);
  std::vector<MergeCandidate> first;
  first.reserve(n);
  std::priority_queue<MergeCandidate> queue({}, std::move(first));
  const auto consider = [&](uint32_t left, uint32_t right) {
    if (const PairTable::Merge* found = merges_.find(ids[left], ids[right])) {
      queue.push({found->rank, left, found->result});
    }
  };
  for (uint32_t i = 0; i < n; ++i) {
    previous[i] = i == 0 ? kNoPlace : i - 1;
    next[i] = i + 1 == n ? kNoPlace : i + 1;
    if (i > 0) consider(i - 1, i);
  }
  while (!queue.empty()) {
    const MergeCandidate best = queue.top();
    queue.pop();
    const uint32_t left = best.left;
    const uint32_t right = next[left];
    if (ids[left] == -1 || right == kNoPlace) continue;
    // Neighbours may have changed since this entry was queued: it is valid if they still merge to
    // the same token.
    const PairTable::Merge* now = merges_.find(ids[left], ids[right]);
    if (!now || now->result != best.result) continue;
    ids[left] = best.result;
    ids[right] = -1;
    next[left] = next[right];
    if (next[left] != kNoPlace) previous[next[left]] = left;
    if (previous[left] != kNoPlace) consider(previous[left], left);
    if (next[left] != kNoPlace) consider(left, next[left]);
  }
  std::erase(ids, -1);
}

}  // namespace luminal::tokens
