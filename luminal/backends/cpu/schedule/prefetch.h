// What a kernel asks memory for before it needs it.
#pragma once

#include "luminal/backends/cpu/schedule/schedule.h"

namespace luminal::backends::cpu {

// Adds to `schedule`, whose vector loops are chosen.
void plan_prefetches(Schedule& schedule);

}  // namespace luminal::backends::cpu
