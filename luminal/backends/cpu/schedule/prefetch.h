// Software prefetches of a kernel.
#pragma once

#include "luminal/backends/cpu/schedule/schedule.h"

namespace luminal::backends::cpu {

// Adds prefetches to `schedule`. Must run after the vector loops are chosen.
void plan_prefetches(Schedule& schedule, const EmitOptions& options);

}  // namespace luminal::backends::cpu
