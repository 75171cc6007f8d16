#include "luminal/text/unicode/unicode.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

// A code point whose mapping starts at this index of a pool and ends where the next one's starts.
struct MappedFrom {
  char32_t from;
  uint32_t begin;
};
struct Composition {
  char32_t first;
  char32_t second;
  char32_t result;
};

#include "luminal/text/unicode/unicode_tables.inc"

// One byte per code point: 1.1 MB, so that each lookup is one load.
std::vector<uint8_t> spread(std::span<const uint32_t> runs) {
  std::vector<uint8_t> values(kCodePoints, 0);
  for (size_t i = 0; i < runs.size(); ++i) {
    const size_t end = i + 1 < runs.size() ? runs[i + 1] >> 8 : kCodePoints;
    std::fill(values.begin() + (runs[i] >> 8), values.begin() + end,
              static_cast<uint8_t>(runs[i] & 0xFF));
  }
  return values;
}

// The value of the run that contains `c`; 0 before the first.
uint8_t value_in(std::span<const uint32_t> runs, char32_t c) {
  auto after = std::upper_bound(runs.begin(), runs.end(), (c << 8) | 0xFF);
  return after == runs.begin() ? 0 : static_cast<uint8_t>(*(after - 1) & 0xFF);
}

// The last entry only marks the end of the pool.
std::u32string_view mapped(std::span<const MappedFrom> keys, const char32_t* pool, char32_t c) {
  auto found = std::lower_bound(keys.begin(), keys.end() - 1, c,
                                [](const MappedFrom& key, char32_t v) { return key.from < v; });
  if (found == keys.end() - 1 || found->from != c) return {};
  return {pool + found->begin, (found + 1)->begin - found->begin};
}

// Hangul syllables are composed and decomposed by arithmetic (Unicode, 3.12).
constexpr char32_t kSyllables = 0xAC00;
constexpr char32_t kLeading = 0x1100;
constexpr char32_t kVowels = 0x1161;
constexpr char32_t kTrailing = 0x11A7;
constexpr char32_t kLeadingCount = 19;
constexpr char32_t kVowelCount = 21;
constexpr char32_t kTrailingCount = 28;
constexpr char32_t kSyllableCount = kLeadingCount * kVowelCount * kTrailingCount;

constexpr std::array<std::string_view, kCategories> kNames = {
    "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps",
    "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cs"};

}  // namespace

std::string_view name(Category category) { return kNames[static_cast<size_t>(category)]; }

std::span<const uint32_t> category_runs() { return kCategoryRuns; }

Category category(char32_t c) {
  static const std::vector<uint8_t> categories = spread(kCategoryRuns);
  return c < kCodePoints ? static_cast<Category>(categories[c]) : Category::Cn;
}

bool is_letter(char32_t c) {
  const Category of = category(c);
  return of >= Category::Lu && of <= Category::Lo;
}

bool is_mark(char32_t c) {
  const Category of = category(c);
  return of >= Category::Mn && of <= Category::Me;
}

bool is_number(char32_t c) {
  const Category of = category(c);
  return of >= Category::Nd && of <= Category::No;
}

bool is_punctuation(char32_t c) {
  const Category of = category(c);
  return of >= Category::Pc && of <= Category::Po;
}

bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || in_range(c, 0x09, 0x0D);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || in_range(c, 0x2000, 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_word(char32_t c) {
  const Category of = category(c);
  return (of >= Category::Lu && of <= Category::Nl) || of == Category::Pc ||
         in_range(c, 0x200C, 0x200D) || in_range(c, 0x24B6, 0x24E9) ||
         in_range(c, 0x1F130, 0x1F149) || in_range(c, 0x1F150, 0x1F169) ||
         in_range(c, 0x1F170, 0x1F189);
}

void append_lower(std::u32string& out, char32_t c) {
  if (c < 0x80) {
    out.push_back(in_range(c, 'A', 'Z') ? c + 32 : c);
    return;
  }
  const std::u32string_view to = mapped(kLowerKeys, kLowerPool, c);
  if (to.empty()) {
    out.push_back(c);
  } else {
    out.append(to);
  }
}

std::string lower(std::string_view text) {
  std::string out;
  std::u32string letters;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    letters.clear();
    append_lower(letters, c.value);
    for (char32_t letter : letters) append_utf8(out, letter);
    at += c.length;
  }
  return out;
}

char32_t upper_of(char32_t c) {
  if (c < 0x80) return in_range(c, 'a', 'z') ? c - 32 : c;
  // The inverse of append_lower, built once; of several capitals the first is taken.
  static const std::map<char32_t, char32_t> capitals = [] {
    std::map<char32_t, char32_t> found;
    for (size_t i = 0; i + 1 < std::size(kLowerKeys); ++i) {
      const std::u32string_view to = mapped(kLowerKeys, kLowerPool, kLowerKeys[i].from);
      if (to.size() == 1 && category(kLowerKeys[i].from) == Category::Lu) {
        found.try_emplace(to[0], kLowerKeys[i].from);
      }
    }
    return found;
  }();
  const auto capital = capitals.find(c);
  return capital == capitals.end() ? c : capital->second;
}

uint8_t combining_class(char32_t c) { return c < 0x300 ? 0 : value_in(kCombiningRuns, c); }

void append_decomposition(std::u32string& out, char32_t c, bool compatible) {
  if (c < 0xA0) {
    out.push_back(c);
    return;
  }
  if (c - kSyllables < kSyllableCount) {
    const char32_t index = c - kSyllables;
    out.push_back(kLeading + index / (kVowelCount * kTrailingCount));
    out.push_back(kVowels + index % (kVowelCount * kTrailingCount) / kTrailingCount);
    if (index % kTrailingCount != 0) out.push_back(kTrailing + index % kTrailingCount);
    return;
  }
  std::u32string_view to;
  if (compatible) to = mapped(kCompatibleKeys, kCompatiblePool, c);
  if (to.empty()) to = mapped(kCanonicalKeys, kCanonicalPool, c);
  if (to.empty()) {
    out.push_back(c);
  } else {
    out.append(to);
  }
}

std::optional<char32_t> composed(char32_t first, char32_t second) {
  if (first - kLeading < kLeadingCount && second - kVowels < kVowelCount) {
    return kSyllables + ((first - kLeading) * kVowelCount + (second - kVowels)) * kTrailingCount;
  }
  if (first - kSyllables < kSyllableCount && (first - kSyllables) % kTrailingCount == 0 &&
      second > kTrailing && second < kTrailing + kTrailingCount) {
    return first + (second - kTrailing);
  }
  const std::span<const Composition> table = kCompositions;
  auto found = std::lower_bound(table.begin(), table.end(), std::pair(first, second),
                                [](const Composition& entry, std::pair<char32_t, char32_t> key) {
                                  return std::pair(entry.first, entry.second) < key;
                                });
  if (found == table.end() || found->first != first || found->second != second) {
    return std::nullopt;
  }
  return found->result;
}

}  // namespace luminal::tokens
