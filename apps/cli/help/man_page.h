// A command's man page, in roff with the macros of man(7).
#pragma once

#include <string>

#include "apps/cli/help/command_page.h"

namespace luminal::cli {

// "luminal-run.1", of `luminal run`.
std::string man_file_name(const CommandPage& page);

// Commands of a command are sections of its page, but for those of the program itself: they have
// pages of their own.
std::string man_page(const CommandPage& page);

}  // namespace luminal::cli
