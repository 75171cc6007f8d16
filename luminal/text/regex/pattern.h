// Pattern: a regular expression that matches and searches in time linear in the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace luminal::tokens {

// The expression is compiled to a complete DFA over classes of code points, so matching never
// backtracks, and a pattern can be used from several threads. Preferences are Perl's: the first
// alternative that matches, greedy repetition.
class Pattern {
 public:
  // UserError for an unsupported expression (see compile_pattern), one that matches the empty text,
  // or one whose automaton is too large.
  explicit Pattern(std::string_view expression);

  struct Match {
    size_t begin;
    size_t end;
  };
  // The end of the match that begins at `begin`, or nullopt.
  std::optional<size_t> match_at(std::string_view text, size_t begin) const;
  // The first match at or after `from`, in UTF-8 text.
  std::optional<Match> find(std::string_view text, size_t from) const;

 private:
  struct Builder;
  struct Search;

  // A transition; `matches` if the text so far matches.
  struct Move {
    uint16_t state;
    bool matches;
  };

  // The next character: its class and length in bytes; the last class at the end of the text.
  struct Next {
    uint32_t of;
    size_t length;
  };
  Next next_at(std::string_view text, size_t at) const;
  // match_at() that also returns how far it looked.
  std::optional<size_t> match_at(std::string_view text, size_t begin, size_t& looked) const;

  uint8_t class_of(char32_t c) const { return pages_[page_of_[c >> 8] * 256u + (c & 0xFF)]; }

  std::vector<Move> moves_;  // by state and class; the last class is the end of the text
  uint32_t n_classes_ = 0;
  std::vector<uint16_t> page_of_;  // by code point / 256
  std::vector<uint8_t> pages_;     // the class of each code point; equal pages are shared
};

}  // namespace luminal::tokens
