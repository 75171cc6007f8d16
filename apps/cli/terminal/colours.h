// Colours where there is a terminal that shows them, and none where NO_COLOR is set.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace luminal::cli {

enum class Style : uint8_t { Bold, Dim, Red, Green, Yellow };

// Whether what goes to standard output, or to standard error, is coloured.
bool output_has_colours();
bool error_has_colours();

// The text in that style if `coloured`, as it is otherwise.
std::string styled(std::string_view text, Style style, bool coloured);

}  // namespace luminal::cli
