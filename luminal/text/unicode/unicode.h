// Unicode properties of a code point: category, lower case, decomposition.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace luminal::tokens {

// In the order of the tables; Cn is unassigned.
enum class Category : uint8_t {
  Cn,
  Lu,
  Ll,
  Lt,
  Lm,
  Lo,
  Mn,
  Mc,
  Me,
  Nd,
  Nl,
  No,
  Pc,
  Pd,
  Ps,
  Pe,
  Pi,
  Pf,
  Po,
  Sm,
  Sc,
  Sk,
  So,
  Zs,
  Zl,
  Zp,
  Cc,
  Cf,
  Co,
  Cs
};
constexpr int kCategories = 30;
// For example "Lu".
std::string_view name(Category category);

Category category(char32_t c);

inline bool in_range(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

bool is_letter(char32_t c);
bool is_mark(char32_t c);
bool is_number(char32_t c);
bool is_punctuation(char32_t c);
// The property White_Space.
bool is_white_space(char32_t c);
// The class \w of regular expressions.
bool is_word(char32_t c);

// Lower case, maybe several code points. Ignores context: a capital sigma always becomes 'σ'.
void append_lower(std::u32string& out, char32_t c);
std::string lower(std::string_view text);
// The capital whose lower case this is; `c` itself if there is none.
char32_t upper_of(char32_t c);

// Canonical_Combining_Class; 0 for a starter.
uint8_t combining_class(char32_t c);
// The full canonical or compatibility decomposition; `c` itself if there is none.
void append_decomposition(std::u32string& out, char32_t c, bool compatible);
// The canonical composition of two characters.
std::optional<char32_t> composed(char32_t first, char32_t second);

// (first code point << 8 | category) wherever the category changes, in order.
std::span<const uint32_t> category_runs();

}  // namespace luminal::tokens
