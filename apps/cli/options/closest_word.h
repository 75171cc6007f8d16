// "Did you mean": the word that someone may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace luminal::cli {

// The word that `typed` begins, or that differs from it in the fewest letters (added, left out,
// changed or swapped with their neighbour); empty where none is near. The first of several.
std::string closest_word(std::string_view typed, const std::vector<std::string>& words);

// ": did you mean 'run'?", or nothing where no word is near.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words);

}  // namespace luminal::cli
