// A command's man page, in roff with the macros of man(7).
#pragma once

#include <string>

#include "apps/cli/help/command_page.h"

namespace luminal::cli {

// "luminal-run.1" for `luminal run`.
std::string man_file_name(const CommandPage& page);

// Subcommands are sections of their command's page; the program's own commands have separate pages.
std::string man_page(const CommandPage& page);

}  // namespace luminal::cli
