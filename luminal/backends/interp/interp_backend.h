// The reference interpreter as a backend.
#pragma once

#include "luminal/backends/backend.h"

namespace luminal::backends {

const Backend& interp_backend();

}  // namespace luminal::backends
