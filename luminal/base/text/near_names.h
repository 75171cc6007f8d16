// near_names: suggestions for a misspelt name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::base {

// Up to three of `candidates`: first those that differ from `wanted` by a prefix ("fc.weight" and
// "model.fc.weight"), then those with an edit distance of at most a third of its length.
std::vector<std::string> near_names(std::string_view wanted,
                                    std::span<const std::string> candidates);

}  // namespace luminal::base
