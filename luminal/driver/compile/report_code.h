// What a report says once code is there: how each kernel was made, and the memory of a run.
#pragma once

#include "luminal/backends/backend.h"
#include "luminal/driver/report.h"

namespace luminal {

// Ends the stage "kernels", which took this long.
void report_code(backends::LoadReport loaded, double seconds, CompileReport& report);

// Sizes that don't fit together (s - 4 at s = 2) have no memory to tell of.
void report_memory(runtime::Program& program, const Bindings& sizes, CompileReport& report);

}  // namespace luminal
