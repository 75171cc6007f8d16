// Guards: what a program assumes of its sizes, as Python text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace luminal::pytorch {

// A dim of an input: of "L['cache'][0].size()[2]" dim 2 of the input cache_0.
struct InputSize {
  std::string input;
  size_t axis = 0;
};

// Of "L['mask'].size()[1] == L['ids'].size()[1]" both sides; none of any other guard.
std::optional<std::pair<InputSize, InputSize>> equal_sizes(std::string_view guard);

}  // namespace luminal::pytorch
