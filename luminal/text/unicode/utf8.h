// UTF-8: code points from bytes and back, with a defined answer for bytes that aren't UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace luminal::tokens {

constexpr char32_t kReplacement = 0xFFFD;
constexpr std::string_view kReplacementText = "\xEF\xBF\xBD";
constexpr char32_t kCodePoints = 0x110000;

struct CodePoint {
  char32_t value = kReplacement;
  size_t length = 0;  // bytes; of what isn't UTF-8, the longest start of a character there is
  bool valid = false;
};

// The code point at `at`, which must lie in the text.
CodePoint code_point_at(std::string_view text, size_t at);

void append_utf8(std::string& text, char32_t code_point);
std::string utf8(char32_t code_point);

bool is_utf8(std::string_view text);
// The text with U+FFFD in place of each stretch that isn't UTF-8, as browsers and Rust do it.
std::string valid_utf8(std::string_view text);
// How many bytes at the end start a character whose other bytes are still to come; 0 to 3.
size_t incomplete_tail(std::string_view text);

std::u32string code_points(std::string_view text);

}  // namespace luminal::tokens
