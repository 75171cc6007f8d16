// The program of a regular expression: steps in order of preference.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "luminal/text/regex/char_set.h"

namespace luminal::tokens {

struct PatternStep {
  enum class Kind : uint8_t {
    Take,      // consume a character of set `set`, then the next step
    Split,     // try step `first`, then step `second`
    Jump,      // to step `first`
    Ahead,     // succeeds if the next character is in set `set`
    NotAhead,  // succeeds if it isn't, or at the end
    AtEnd,     // succeeds at the end
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

// Compiles the subset of regular expressions that published tokenizers use: alternatives, groups,
// (?i:…), classes with ranges, negation, nesting and &&, \p{…} \s \d \w and their inverses, * + ?
// {m,n} and their lazy forms, $, and look-ahead by one character. UserError for anything else.
PatternProgram compile_pattern(std::string_view pattern);

}  // namespace luminal::tokens
