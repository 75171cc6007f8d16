// The program `luminal`: dispatches to subcommands, and turns errors into messages and exit codes.
#pragma once

#include "luminal/base/visibility.h"

namespace luminal::cli {

// The exit code: 0; 1 for an error of the user or the machine, 2 for an invalid command line, 3 for
// an internal error.
LUMINAL_API int run_program(int argc, char** argv);

}  // namespace luminal::cli
