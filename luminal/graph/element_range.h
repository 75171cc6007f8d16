// ElementRange: the C++ containers whose elements a tensor can take as they are.
#pragma once

#include <ranges>
#include <type_traits>

namespace luminal {

// Numbers side by side in memory: std::vector, std::array, std::span, T[n]. Not text, whose
// characters are no numbers, and not std::vector<bool>, whose elements have no addresses.
template <typename R>
concept ElementRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                       std::is_arithmetic_v<std::ranges::range_value_t<R>> &&
                       !std::is_same_v<std::ranges::range_value_t<R>, char>;

}  // namespace luminal
