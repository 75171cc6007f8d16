#include "luminal/text/unicode/utf8.h"

#include <algorithm>
#include <cstdint>

namespace luminal::tokens {
namespace {

// By first byte: the length of the sequence, and the range of the second byte, which excludes
// overlong forms, surrogates and code points above U+10FFFF.
struct Lead {
  size_t length;
  unsigned low;
  unsigned high;
};

Lead lead_of(unsigned byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

unsigned byte_at(std::string_view text, size_t at) { return static_cast<unsigned char>(text[at]); }

}  // namespace

CodePoint code_point_at(std::string_view text, size_t at) {
  const unsigned first = byte_at(text, at);
  if (first < 0x80) return {first, 1, true};
  const Lead lead = lead_of(first);
  if (lead.length == 0) return {kReplacement, 1, false};
  char32_t value = first & (0x7Fu >> lead.length);
  for (size_t i = 1; i < lead.length; ++i) {
    if (at + i >= text.size()) return {kReplacement, i, false};
    const unsigned byte = byte_at(text, at + i);
    const unsigned low = i == 1 ? lead.low : 0x80;
    const unsigned high = i == 1 ? lead.high : 0xBF;
    if (byte < low || byte > high) return {kReplacement, i, false};
    value = (value << 6) | (byte & 0x3F);
  }
  return {value, lead.length, true};
}

void append_utf8(std::string& text, char32_t code_point) {
  const auto add = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    add(code_point);
  } else if (code_point < 0x800) {
    add(0xC0 | (code_point >> 6));
    add(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    add(0xE0 | (code_point >> 12));
    add(0x80 | ((code_point >> 6) & 0x3F));
    add(0x80 | (code_point & 0x3F));
  } else {
    add(0xF0 | (code_point >> 18));
    add(0x80 | ((code_point >> 12) & 0x3F));
    add(0x80 | ((code_point >> 6) & 0x3F));
    add(0x80 | (code_point & 0x3F));
  }
}

std::string utf8(char32_t code_point) {
  std::string text;
  append_utf8(text, code_point);
  return text;
}

bool is_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    if (!c.valid) return false;
    at += c.length;
  }
  return true;
}

std::string valid_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    append_utf8(out, c.value);
    at += c.length;
  }
  return out;
}

size_t incomplete_tail(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const size_t at = text.size() - back;
    if ((byte_at(text, at) & 0xC0) == 0x80) continue;
    const CodePoint c = code_point_at(text, at);
    // Truncated by the end of the text: all bytes up to it may belong to one character.
    const bool may_go_on =
        !c.valid && at + c.length == text.size() && lead_of(byte_at(text, at)).length > back;
    return may_go_on ? back : 0;
  }
  return 0;
}

std::u32string code_points(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    out.push_back(c.value);
    at += c.length;
  }
  return out;
}

}  // namespace luminal::tokens
