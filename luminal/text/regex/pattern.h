// Pattern: a regular expression that is matched and searched for in time linear in the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace luminal::tokens {

// The expression becomes an automaton with one state after each character, built whole when the
// pattern is made, so matching never backtracks and a pattern can be used from many threads.
// Preferences are Perl's: the first alternative that matches, repeats as long as they can be.
class Pattern {
 public:
  // UserError for what isn't understood (see compile_pattern), matches the empty text, or needs an
  // automaton that is too large.
  explicit Pattern(std::string_view expression);

  struct Match {
    size_t begin;
    size_t end;
  };
  // The end of the match that begins at `begin`; none where nothing matches there.
  std::optional<size_t> match_at(std::string_view text, size_t begin) const;
  // The first match at or after `from`, in UTF-8 text.
  std::optional<Match> find(std::string_view text, size_t from) const;

 private:
  struct Builder;
  struct Search;

  // Where a state goes with a class of characters; the text so far matches if `matches`.
  struct Move {
    uint16_t state;
    bool matches;
  };

  // What comes next in the text: its class and how many bytes it takes; the last class at the end.
  struct Next {
    uint32_t of;
    size_t length;
  };
  Next next_at(std::string_view text, size_t at) const;
  // match_at() that also tells how far it looked.
  std::optional<size_t> match_at(std::string_view text, size_t begin, size_t& looked) const;

  uint8_t class_of(char32_t c) const { return pages_[page_of_[c >> 8] * 256u + (c & 0xFF)]; }

  std::vector<Move> moves_;  // by state and class; the last class is the end of the text
  uint32_t n_classes_ = 0;
  std::vector<uint16_t> page_of_;  // of each 256 code points
  std::vector<uint8_t> pages_;     // the class of each code point, equal pages once
};

}  // namespace luminal::tokens
