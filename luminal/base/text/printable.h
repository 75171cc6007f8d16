// Text from others as a terminal may be shown it.
#pragma once

#include <string>
#include <string_view>

namespace luminal::base {

// With control characters as \x1b, so that it can't move the cursor, colour or rename a terminal;
// what is longer than `most` bytes is cut, with "…" at its end. Tabs stay, and newlines if
// `keep_lines`, when `most` is that of each line.
std::string printable(std::string_view text, size_t most = 1000, bool keep_lines = false);

}  // namespace luminal::base
