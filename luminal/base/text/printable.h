// Makes untrusted text safe to print to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace luminal::base {

// Escapes control characters (as \x1b), so that text can't move the cursor, set colours or rename a
// terminal. Text longer than `most` bytes is cut, with "…" at its end. Tabs are kept. With
// `keep_lines` newlines are kept too, and `most` limits each line.
std::string printable(std::string_view text, size_t most = 1000, bool keep_lines = false);

}  // namespace luminal::base
