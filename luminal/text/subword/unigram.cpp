#include "luminal/text/subword/unigram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "luminal/base/errors.h"
#include "luminal/text/subword/byte_tokens.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

constexpr double kUnknownPenalty = 10;
constexpr TokenId kUnknownText = -1;

}  // namespace

// Viterbi state at a position: the best token that ends there, its beginning and the total score.
struct Unigram::Best {
  double score = 0;
  size_t begin = 0;
  TokenId id = kUnknownText;
  bool reached = false;
};

Unigram::Unigram(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores,
                 UnigramOptions options)
    : vocabulary_(std::move(vocabulary)), scores_(std::move(scores)), options_(std::move(options)) {
  if (scores_.size() != vocabulary_->size()) {
    throw UserError(fmt::format("tokenizer: {} scores for {} tokens; the file is damaged",
                                scores_.size(), vocabulary_->size()));
  }
  double min_score = 0;
  std::vector<std::pair<std::string_view, uint32_t>> strings;
  for (size_t id = 0; id < scores_.size(); ++id) {
    if (!std::isfinite(scores_[id])) {
      throw UserError(fmt::format("tokenizer: token {} has a score that isn't finite", id));
    }
    if (!options_.never.empty() && options_.never[id]) continue;
    min_score = strings.empty() ? scores_[id] : std::min(min_score, scores_[id]);
    max_score_ = strings.empty() ? scores_[id] : std::max(max_score_, scores_[id]);
    strings.emplace_back(vocabulary_->token(static_cast<TokenId>(id)), id);
  }
  unknown_score_ = min_score - kUnknownPenalty;
  if (options_.byte_fallback) byte_ids_ = byte_token_ids(*vocabulary_);
  tree_ = PrefixTree(std::move(strings));
}

double Unigram::score(TokenId id, size_t length) const {
  const auto index = static_cast<size_t>(id);
  const bool wins = !options_.always.empty() && options_.always[index];
  return wins ? static_cast<double>(length) * max_score_ - 0.1 : scores_[index];
}

void Unigram::relax(std::vector<Best>& best, std::string_view text, size_t begin) const {
  const auto offer = [&](size_t end, double total, TokenId id) {
    if (best[end].reached && total <= best[end].score) return;
    best[end] = {.score = total, .begin = begin, .id = id, .reached = true};
  };
  const double so_far = best[begin].score;
  const size_t character = code_point_at(text, begin).length;
  bool has_character = false;
  uint32_t node = 0;
  for (size_t end = begin + 1; end <= text.size(); ++end) {
    node = tree_.step(node, text[end - 1]);
    if (node == PrefixTree::kNone) break;
    if (tree_.value(node) == PrefixTree::kNone) continue;
    const auto id = static_cast<TokenId>(tree_.value(node));
    offer(end, so_far + score(id, end - begin), id);
    has_character |= end - begin == character;
  }
  if (!has_character) offer(begin + character, so_far + unknown_score_, kUnknownText);
}

void Unigram::encode(std::string_view text, std::vector<TokenId>& ids) const {
  if (text.empty()) return;
  std::vector<Best> best(text.size() + 1);
  best[0].reached = true;
  for (size_t begin = 0; begin < text.size(); begin += code_point_at(text, begin).length) {
    relax(best, text, begin);
  }
  std::vector<size_t> ends;
  for (size_t end = text.size(); end > 0; end = best[end].begin) ends.push_back(end);
  bool after_unknown = false;
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    const Best& token = best[*end];
    const bool is_unknown = token.id == kUnknownText || token.id == options_.unknown;
    if (is_unknown) {
      append_unknown(text.substr(token.begin, *end - token.begin), after_unknown, ids);
    } else {
      ids.push_back(token.id);
    }
    after_unknown = is_unknown;
  }
}

void Unigram::append_unknown(std::string_view text, bool after_unknown,
                             std::vector<TokenId>& ids) const {
  if (byte_ids_) {
    for (char byte : text) ids.push_back((*byte_ids_)[static_cast<unsigned char>(byte)]);
    return;
  }
  if (!options_.unknown) {
    throw UserError(
        fmt::format("tokenizer: '{}' is in no token, and there is no unknown token", text));
  }
  if (!after_unknown) ids.push_back(*options_.unknown);
}

}  // namespace luminal::tokens
