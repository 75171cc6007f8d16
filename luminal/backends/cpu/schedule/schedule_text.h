// A schedule as text, for people, tests and diffs.
#pragma once

#include <string>

#include "luminal/backends/cpu/schedule/schedule.h"

namespace luminal::backends::cpu {

std::string text(const Schedule& schedule);

}  // namespace luminal::backends::cpu
