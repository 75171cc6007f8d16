#include "luminal/text/regex/char_set.h"

#include <algorithm>
#include <string>

#include "luminal/text/unicode/unicode.h"
#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

// The script Han, which categories can't express.
constexpr CharSet::Range kHan[] = {
    {0x2E80, 0x2E99},   {0x2E9B, 0x2EF3},   {0x2F00, 0x2FD5},   {0x3005, 0x3005},
    {0x3007, 0x3007},   {0x3021, 0x3029},   {0x3038, 0x303B},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xF900, 0xFA6D},   {0xFA70, 0xFAD9},   {0x16FE2, 0x16FE3},
    {0x16FF0, 0x16FF1}, {0x20000, 0x2A6DF}, {0x2A700, 0x2B739}, {0x2B740, 0x2B81D},
    {0x2B820, 0x2CEA1}, {0x2CEB0, 0x2EBE0}, {0x2EBF0, 0x2EE5D}, {0x2F800, 0x2FA1D},
    {0x30000, 0x3134A}, {0x31350, 0x323AF}};

template <typename Predicate>
CharSet where(Predicate holds) {
  CharSet set;
  for (char32_t c = 0; c < kCodePoints; ++c) {
    if (!holds(c)) continue;
    const char32_t first = c;
    while (c + 1 < kCodePoints && holds(c + 1)) ++c;
    set.add(first, c);
  }
  return set;
}

// A character and its lower case; `capital` by its category.
struct CasePair {
  char32_t from;
  char32_t low;
  bool capital;
};

// Computed once: a pattern may ask for the cases of thousands of sets.
const std::vector<CasePair>& case_pairs() {
  static const std::vector<CasePair> pairs = [] {
    std::vector<CasePair> found;
    for (char32_t c = 0; c < 0x20000; ++c) {  // no cased letters above
      std::u32string low;
      append_lower(low, c);
      if (low.size() != 1 || low[0] == c) continue;
      const Category of = category(c);
      found.push_back({c, low[0], of == Category::Lu || of == Category::Lt});
    }
    return found;
  }();
  return pairs;
}

}  // namespace

CharSet CharSet::of(char32_t first, char32_t last) {
  CharSet set;
  set.add(first, last);
  return set;
}

CharSet CharSet::all() { return of(0, kCodePoints - 1); }

CharSet CharSet::white_space() {
  static const CharSet set = where(is_white_space);
  return set;
}

CharSet CharSet::word() {
  static const CharSet set = where(is_word);
  return set;
}

CharSet CharSet::property(std::string_view wanted) {
  CharSet set;
  if (wanted == "Han") {
    for (const Range& range : kHan) set.ranges_.push_back(range);
    return set;
  }
  if (wanted.empty() || wanted.size() > 2) return set;
  const std::span<const uint32_t> runs = category_runs();
  if (name(Category::Cn).starts_with(wanted)) set.ranges_.push_back({0, (runs[0] >> 8) - 1});
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto of = static_cast<Category>(runs[i] & 0xFF);
    if (!name(of).starts_with(wanted)) continue;
    const char32_t end = i + 1 < runs.size() ? runs[i + 1] >> 8 : kCodePoints;
    set.ranges_.push_back({runs[i] >> 8, end - 1});
  }
  if (!set.ranges_.empty() && set.ranges_[0].last == static_cast<char32_t>(-1)) {
    set.ranges_.erase(set.ranges_.begin());
  }
  set.tidy();
  return set;
}

void CharSet::add(char32_t first, char32_t last) {
  const bool at_end = ranges_.empty() || first > ranges_.back().last + 1;
  ranges_.push_back({first, last});
  if (!at_end) tidy();
}

void CharSet::add(const CharSet& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
  tidy();
}

void CharSet::tidy() {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
  size_t kept = 0;
  for (const Range& range : ranges_) {
    if (kept > 0 && range.first <= ranges_[kept - 1].last + 1) {
      ranges_[kept - 1].last = std::max(ranges_[kept - 1].last, range.last);
    } else {
      ranges_[kept++] = range;
    }
  }
  ranges_.resize(kept);
}

CharSet CharSet::inverted() const {
  CharSet set;
  char32_t next = 0;
  for (const Range& range : ranges_) {
    if (range.first > next) set.ranges_.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next < kCodePoints) set.ranges_.push_back({next, kCodePoints - 1});
  return set;
}

CharSet CharSet::both(const CharSet& other) const {
  CharSet neither = inverted();
  neither.add(other.inverted());
  return neither.inverted();
}

CharSet CharSet::any_case() const {
  CharSet set = *this;
  // Only ranges up to 512 letters: larger ones contain both cases anyway.
  for (const CasePair& pair : case_pairs()) {
    const Range* range = find(pair.from);
    if (range && range->last - range->first <= 0x200) set.ranges_.push_back({pair.low, pair.low});
  }
  set.tidy();
  const CharSet lowered = set;
  for (const CasePair& pair : case_pairs()) {
    if (pair.capital && lowered.contains(pair.low)) set.ranges_.push_back({pair.from, pair.from});
  }
  set.tidy();
  if (set.contains('s')) set.add(0x17F, 0x17F);
  return set;
}

const CharSet::Range* CharSet::find(char32_t c) const {
  auto after = std::upper_bound(ranges_.begin(), ranges_.end(), c,
                                [](char32_t value, const Range& r) { return value < r.first; });
  return after != ranges_.begin() && c <= (after - 1)->last ? &*(after - 1) : nullptr;
}

}  // namespace luminal::tokens
