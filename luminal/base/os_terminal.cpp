#include "luminal/base/os_terminal.h"

#include <unistd.h>

namespace luminal::base {

bool error_is_terminal() { return isatty(STDERR_FILENO) == 1; }
bool input_is_terminal() { return isatty(STDIN_FILENO) == 1; }

}  // namespace luminal::base
