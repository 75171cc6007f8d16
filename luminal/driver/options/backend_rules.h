// backend_rules: the rules that a backend brings to compiles for it.
#pragma once

#include <string>
#include <vector>

#include "luminal/backends/backend_options.h"
#include "luminal/search/terms/rule_set.h"

namespace luminal {

// Empty if it brings none. UserError for an unknown backend or target.
std::vector<search::RuleText> backend_rules(const BackendOptions& options);

// A digest of them, for keys of what was measured under them; empty if there are none.
std::string backend_rules_digest(const BackendOptions& options);

}  // namespace luminal
