// edit_distance: how far two words are from one another.
#pragma once

#include <cstddef>
#include <string_view>

namespace luminal::base {

// Damerau's distance: the characters that are added, left out, changed, or swapped with their
// neighbour. Takes a.size() · b.size() steps.
size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace luminal::base
