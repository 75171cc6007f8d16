#include "luminal/text/tokenize/added_tokens.h"

#include <algorithm>

#include "luminal/text/unicode/unicode.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

bool ends_with_word(std::string_view text) {
  if (text.empty()) return false;
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return is_word(code_point_at(text, at).value);
}

bool starts_with_word(std::string_view text) {
  return !text.empty() && is_word(code_point_at(text, 0).value);
}

size_t spaces_at_start(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const CodePoint c = code_point_at(text, at);
    if (!is_white_space(c.value)) break;
    at += c.length;
  }
  return at;
}

// The offset of the trailing spaces.
size_t spaces_at_end(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0) {
    size_t at = begin - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
    if (!is_white_space(code_point_at(text, at).value)) break;
    begin = at;
  }
  return begin;
}

// The first range that ends after `at`; null if there is none.
const TextRange* range_after(std::span<const TextRange> ranges, size_t at) {
  const auto found = std::partition_point(ranges.begin(), ranges.end(),
                                          [&](const TextRange& range) { return range.end <= at; });
  return found == ranges.end() ? nullptr : &*found;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens,
                         const std::vector<std::string>& normalized_contents)
    : tokens_(std::move(tokens)) {
  std::vector<std::pair<std::string_view, uint32_t>> raw;
  std::vector<std::pair<std::string_view, uint32_t>> normalized;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    by_id_.try_emplace(tokens_[i].id, i);
    if (!tokens_[i].normalized) {
      raw.emplace_back(tokens_[i].content, i);
    } else if (normalized_contents.empty()) {
      normalized.emplace_back(tokens_[i].content, i);
    } else {
      normalized.emplace_back(normalized_contents[i], i);
    }
  }
  raw_ = PrefixTree(std::move(raw));
  normalized_ = PrefixTree(std::move(normalized));
}

std::vector<AddedTokens::Part> AddedTokens::split(std::string_view text, bool normalized,
                                                  bool with_special,
                                                  std::span<const TextRange> plain) const {
  const PrefixTree& tree = normalized ? normalized_ : raw_;
  std::vector<Part> parts;
  size_t done = 0;
  for (size_t at = 0; !tree.empty() && at < text.size();) {
    auto found = tree.longest(text, at);
    const TextRange* range = range_after(plain, at);
    if (found && tokens_[found->value].special && range && range->begin < at + found->length) {
      // The part before the range, which the template spelt, can still be a token of its own.
      found = range->begin > at ? tree.longest(text.substr(0, range->begin), at) : std::nullopt;
    }
    if (!found) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[found->value];
    size_t begin = at;
    size_t end = at + found->length;
    at = end;
    if (token.special && !with_special) continue;
    const bool inside_word =
        ends_with_word(text.substr(0, begin)) || starts_with_word(text.substr(end));
    if (token.single_word && inside_word) continue;
    if (token.strip_left) begin = spaces_at_end(text.substr(0, begin));
    begin = std::max(begin, done);
    if (token.strip_right) end += spaces_at_start(text.substr(end));
    if (begin > done) parts.push_back({text.substr(done, begin - done), nullptr});
    parts.push_back({text.substr(begin, end - begin), &token});
    done = end;
    at = std::max(at, done);
  }
  if (done < text.size()) parts.push_back({text.substr(done), nullptr});
  return parts;
}

const AddedToken* AddedTokens::find(TokenId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto found = std::find_if(tokens_.begin(), tokens_.end(), [&](const AddedToken& token) {
    return token.content == content;
  });
  return found == tokens_.end() ? nullptr : &*found;
}

}  // namespace luminal::tokens
