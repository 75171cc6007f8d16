// The program that a regular expression becomes: what to match, in order of preference.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "luminal/text/regex/char_set.h"

namespace luminal::tokens {

struct PatternStep {
  enum class Kind : uint8_t {
    Take,      // a character of set `set`, then the next step
    Split,     // step `first`, or else step `second`
    Jump,      // step `first`
    Ahead,     // goes on where the next character is one of set `set`
    NotAhead,  // goes on where it isn't, or where there is none
    AtEnd,     // goes on where there is none
    Match
  };
  Kind kind;
  uint32_t set = 0;
  uint32_t first = 0;
  uint32_t second = 0;
};

struct PatternProgram {
  std::vector<PatternStep> steps;
  std::vector<CharSet> sets;
};

// Reads the subset of regular expressions that published tokenizers use: alternatives, groups,
// (?i:…), classes with ranges, negation, nesting and &&, \p{…} \s \d \w and their inverses,
// * + ? {m,n} and their lazy forms, $, and a look ahead at one character. UserError for anything
// else.
PatternProgram compile_pattern(std::string_view pattern);

}  // namespace luminal::tokens
