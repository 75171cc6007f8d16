// The program `luminal`: finds the subcommand, and turns errors into messages and exit codes.
#pragma once

#include "luminal/base/visibility.h"

namespace luminal::cli {

// What main() returns: 0; 1 where the user or the machine is at fault, 2 for a command line that
// isn't one, 3 for a bug of ours.
LUMINAL_API int run_program(int argc, char** argv);

}  // namespace luminal::cli
