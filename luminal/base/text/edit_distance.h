// edit_distance: the number of edits between two words.
#pragma once

#include <cstddef>
#include <string_view>

namespace luminal::base {

// Damerau–Levenshtein distance: insertions, deletions, substitutions and swaps of neighbouring
// characters. Takes a.size() · b.size() steps.
size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace luminal::base
