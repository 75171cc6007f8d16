// The part of a report about generated code: how each kernel was compiled, and the memory of a run.
#pragma once

#include "luminal/backends/backend.h"
#include "luminal/driver/inspect_options.h"
#include "luminal/driver/report.h"

namespace luminal {

// Ends the stage "kernels", which took this long.
void report_code(backends::LoadReport loaded, double seconds, const InspectOptions& inspect,
                 CompileReport& report);

// Nothing is reported for sizes that don't fit together (s - 4 at s = 2).
void report_memory(runtime::Program& program, const Bindings& sizes, CompileReport& report);

}  // namespace luminal
