#include "luminal/text/unicode/normalize.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "luminal/text/unicode/unicode.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

// Canonical ordering: sorts runs of combining marks by their class, stably.
void order_marks(std::u32string& text) {
  for (size_t i = 0; i < text.size();) {
    if (combining_class(text[i]) == 0) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < text.size() && combining_class(text[end]) != 0) ++end;
    std::vector<std::tuple<uint8_t, size_t, char32_t>> marks;
    for (size_t k = i; k < end; ++k) marks.emplace_back(combining_class(text[k]), k, text[k]);
    std::sort(marks.begin(), marks.end());
    for (size_t k = i; k < end; ++k) text[k] = std::get<2>(marks[k - i]);
    i = end;
  }
}

// Composition: a mark joins the last starter if no mark of the same or a higher class is between.
void compose(std::u32string& text) {
  constexpr size_t kNone = static_cast<size_t>(-1);
  size_t starter = kNone;
  size_t length = 0;
  int last_class = -1;  // of the last mark after the starter; -1 if there is none
  for (char32_t c : text) {
    const int of = combining_class(c);
    if (starter != kNone && last_class < of) {
      if (auto joined = composed(text[starter], c)) {
        text[starter] = *joined;
        continue;
      }
    }
    if (of == 0) {
      starter = length;
      last_class = -1;
    } else {
      last_class = of;
    }
    text[length++] = c;
  }
  text.resize(length);
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

}  // namespace

std::string normalized(std::string_view text, NormalForm form) {
  if (is_ascii(text)) return std::string(text);
  const bool compatible = form == NormalForm::NFKC || form == NormalForm::NFKD;
  std::u32string parts;
  parts.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    append_decomposition(parts, c.value, compatible);
    at += c.length;
  }
  order_marks(parts);
  if (form == NormalForm::NFC || form == NormalForm::NFKC) compose(parts);
  std::string out;
  out.reserve(text.size());
  for (char32_t c : parts) append_utf8(out, c);
  return out;
}

}  // namespace luminal::tokens
