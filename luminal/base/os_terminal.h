// Whether someone is watching.
#pragma once

namespace luminal::base {

// Whether standard error goes to a terminal, where a line can be written over.
bool error_is_terminal();
// Whether standard input comes from one: someone types.
bool input_is_terminal();

}  // namespace luminal::base
