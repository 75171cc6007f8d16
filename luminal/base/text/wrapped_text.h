// wrapped_text: breaks text for people into lines of bounded length.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace luminal::base {

// Breaks lines between words where they would exceed `columns`. All lines but the first are
// indented; the first is assumed to start at column `indent`. A UTF-8 character is one column.
std::string wrapped_text(std::string_view text, size_t indent, size_t columns);

}  // namespace luminal::base
