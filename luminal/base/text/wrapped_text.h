// wrapped_text: lines of bounded length, for people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace luminal::base {

// Breaks lines between words where they would pass `columns`. All lines but the first are indented;
// the first is taken to begin there too. Characters of UTF-8 are one column each.
std::string wrapped_text(std::string_view text, size_t indent, size_t columns);

}  // namespace luminal::base
