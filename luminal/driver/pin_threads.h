// pin_threads(): helper threads that stay on their cores.
#pragma once

#include "luminal/base/visibility.h"

namespace luminal {

// From now on each helper thread of this process stays on a core of its own, of those that the
// process may use; the calling threads stay as they are. For machines that run one program alone:
// next to others the system's scheduler places threads better. There is no way back.
LUMINAL_API void pin_threads();

}  // namespace luminal
