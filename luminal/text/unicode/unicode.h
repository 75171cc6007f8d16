// What Unicode says of a code point: its category, its lower case, how it is taken apart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace luminal::tokens {

// In the order of the tables; Cn is what isn't assigned.
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
// "Lu".
std::string_view name(Category category);

Category category(char32_t c);

inline bool in_range(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

bool is_letter(char32_t c);
bool is_mark(char32_t c);
bool is_number(char32_t c);
bool is_punctuation(char32_t c);
// The property White_Space.
bool is_white_space(char32_t c);
// What regular expressions call \w.
bool is_word(char32_t c);

// Lower case, which may be more than one code point; no context is looked at, so that a capital
// sigma is always 'σ'.
void append_lower(std::u32string& out, char32_t c);
std::string lower(std::string_view text);
// The capital whose lower case this is; the letter itself where there is none.
char32_t upper_of(char32_t c);

// Canonical_Combining_Class; 0 for what starts a character.
uint8_t combining_class(char32_t c);
// The full decomposition, canonical or compatible; `c` itself where there is none.
void append_decomposition(std::u32string& out, char32_t c, bool compatible);
// The character that two make up.
std::optional<char32_t> composed(char32_t first, char32_t second);

// (first code point << 8 | category) wherever the category changes, in order.
std::span<const uint32_t> category_runs();

}  // namespace luminal::tokens
