// UTF-8: code points from bytes and back, with a defined result for invalid bytes.
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
  size_t length = 0;  // bytes; if invalid, the longest valid start of a character
  bool valid = false;
};

// The code point at `at`, which must be within the text.
CodePoint code_point_at(std::string_view text, size_t at);

void append_utf8(std::string& text, char32_t code_point);
std::string utf8(char32_t code_point);

bool is_utf8(std::string_view text);
// Replaces each maximal invalid part by U+FFFD, as browsers and Rust do.
std::string valid_utf8(std::string_view text);
// The number of bytes (0 to 3) at the end that start an incomplete character.
size_t incomplete_tail(std::string_view text);

std::u32string code_points(std::string_view text);

}  // namespace luminal::tokens
