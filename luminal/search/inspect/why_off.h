// Why a rule of a compile doesn't run.
#pragma once

#include <string>

#include "luminal/search/terms/rule_set.h"

namespace luminal::search {

// Empty where it runs: its group is disabled, or its class isn't admitted.
std::string why_off(const RuleInfo& rule, const Admission& admission);

}  // namespace luminal::search
