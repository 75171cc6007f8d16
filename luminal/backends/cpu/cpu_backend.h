// The CPU backend: plans as kernels that LLVM compiles in process.
#pragma once

#include "luminal/backends/backend.h"

namespace luminal::backends {

const Backend& cpu_backend();

}  // namespace luminal::backends
