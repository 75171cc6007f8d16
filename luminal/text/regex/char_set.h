// CharSet: a set of code points, as ranges.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace luminal::tokens {

class CharSet {
 public:
  struct Range {
    char32_t first;
    char32_t last;
    bool operator==(const Range&) const = default;
  };

  static CharSet of(char32_t first, char32_t last);
  static CharSet all();
  static CharSet white_space();
  static CharSet word();
  // A category or group of categories by its Unicode name ("L", "Lu", "P" …), or "Han"; empty for
  // an unknown name.
  static CharSet property(std::string_view name);

  void add(char32_t first, char32_t last);
  void add(const CharSet& other);
  CharSet inverted() const;
  CharSet both(const CharSet& other) const;
  // Adds all characters with the same lower case, and the long s for s.
  CharSet any_case() const;

  bool contains(char32_t c) const { return find(c) != nullptr; }
  bool empty() const { return ranges_.empty(); }
  // Disjoint, not adjacent, sorted.
  std::span<const Range> ranges() const { return ranges_; }
  bool operator==(const CharSet&) const = default;

 private:
  void tidy();
  // The range that contains `c`, or null.
  const Range* find(char32_t c) const;

  std::vector<Range> ranges_;
};

}  // namespace luminal::tokens
