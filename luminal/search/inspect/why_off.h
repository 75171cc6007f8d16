// Why a rule of a compile doesn't run.
#pragma once

#include <string>

#include "luminal/search/terms/rule_set.h"

namespace luminal::search {

// The reason, a disabled group or a class that isn't admitted; empty if it runs.
std::string why_off(const RuleInfo& rule, const Admission& admission);

}  // namespace luminal::search
