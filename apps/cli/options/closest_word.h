// "Did you mean": finds the word that the user may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace luminal::cli {

// The word that starts with `typed`, or the one at the smallest edit distance (letters inserted,
// removed, changed, or swapped with their neighbour); empty if none is near. The first of several.
std::string closest_word(std::string_view typed, const std::vector<std::string>& words);

// ": did you mean 'run'?", or empty if no word is near.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words);

}  // namespace luminal::cli
