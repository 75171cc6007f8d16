#include "luminal/text/text_stream.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "luminal/text/unicode/utf8.h"

namespace luminal {
namespace {

using tokens::kReplacementText;

constexpr size_t kBytesOfCharacter = 4;
constexpr size_t kMostWaiting = 16;
constexpr size_t kKept = 8;
constexpr size_t kMostKept = 32;

// Removes up to three trailing U+FFFD: the bytes of an incomplete character.
std::string_view without_broken_end(std::string_view text) {
  for (size_t i = 1; i < kBytesOfCharacter && text.ends_with(kReplacementText); ++i) {
    text.remove_suffix(kReplacementText.size());
  }
  return text;
}

}  // namespace

TextStream::TextStream(Tokenizer tokenizer, DecodeOptions options)
    : tokenizer_(std::move(tokenizer)), options_(options) {}

std::string TextStream::add(TokenId id) {
  ids_.push_back(id);
  ++waiting_;
  const std::string all = tokenizer_.decode(ids_, options_);
  std::string_view ready = all;
  if (ready.ends_with(kReplacementText)) {
    // Each token has at least one byte: after this many, an incomplete character never completes.
    if (waiting_ < kMostWaiting) return {};
    ready = without_broken_end(ready);
  }
  if (ready.size() <= shown_.size()) return {};
  std::string piece(ready.substr(shown_.size()));
  shown_ = ready;
  waiting_ = 0;
  if (ready.size() == all.size()) forget_old();
  return piece;
}

// Keeps enough tokens to decode the next one as if all were there: they must decode to some text,
// and must not begin inside a character.
void TextStream::forget_old() {
  if (ids_.size() <= kMostKept) return;
  for (size_t n = kKept; n < 2 * kKept; ++n) {
    std::string kept = tokenizer_.decode(std::span(ids_).last(n), options_);
    if (kept.empty() || kept.find(kReplacementText) != kept.npos) continue;
    ids_.erase(ids_.begin(), ids_.end() - static_cast<std::ptrdiff_t>(n));
    shown_ = std::move(kept);
    return;
  }
}

std::string TextStream::finish(Broken broken) {
  const std::string all = tokenizer_.decode(ids_, options_);
  const std::string_view rest = broken == Broken::Dropped ? without_broken_end(all) : all;
  std::string piece(rest.substr(std::min(rest.size(), shown_.size())));
  ids_.clear();
  shown_.clear();
  waiting_ = 0;
  return piece;
}

}  // namespace luminal
