// saturate: runs all admitted rules together until saturation or a limit.
#pragma once

#include "luminal/search/terms/terms.h"

namespace luminal::search {

// Far above what the embedded rules need, so that only a rule that grows without end reaches them.
// The time limit is the last resort: the others are deterministic.
egraph::RunLimits saturation_limits(const Terms& terms);

// All rulesets are in one schedule, so the terms that one rule makes are seen by all others.
// Reaching a limit is a normal outcome: the report names the rule to look at. UserError, with the
// file, if a user's rule fails or joins values of different types.
egraph::RunReport saturate(Terms& terms, const Admission& admission,
                           const egraph::RunLimits& limits);
inline egraph::RunReport saturate(Terms& terms, const Admission& admission = {}) {
  return saturate(terms, admission, saturation_limits(terms));
}

}  // namespace luminal::search
