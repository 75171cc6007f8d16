// Accesses and stages of a kernel that aren't fully vectorised, for reports.
#pragma once

#include <string>
#include <vector>

#include "luminal/backends/cpu/schedule/schedule.h"

namespace luminal::backends::cpu {

// One line for each stage that runs an element at a time and each access that isn't contiguous
// across lanes, in the order of the kernel.
std::vector<std::string> slow_paths(const Schedule& schedule);

}  // namespace luminal::backends::cpu
