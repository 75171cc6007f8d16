// plan_digest: names a plan. Equal plans have equal digests in every process.
#pragma once

#include <string>

#include "luminal/kernel/plan/plan.h"

namespace luminal::search {

std::string plan_digest(const kernel::Plan& plan);

}  // namespace luminal::search
