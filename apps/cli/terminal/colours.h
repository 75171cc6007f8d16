// Colours on terminals that support them, unless NO_COLOR is set.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace luminal::cli {

enum class Style : uint8_t { Bold, Dim, Red, Green, Yellow };

// Whether standard output, or standard error, is coloured.
bool output_has_colours();
bool error_has_colours();

// The text in that style if `coloured`, else unchanged.
std::string styled(std::string_view text, Style style, bool coloured);

}  // namespace luminal::cli
