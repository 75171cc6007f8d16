// saturate: all admitted rules together, until nothing new is found or a limit is reached.
#pragma once

#include "luminal/search/terms/terms.h"

namespace luminal::search {

// Far above what embedded rules need, so that only a rule that grows without end reaches them. The
// time is the last resort: the others stop a run at the same place every time.
egraph::RunLimits saturation_limits(const Terms& terms);

// One schedule holds all rulesets, so a rule that makes terms runs wherever they can be used. A
// limit is a normal outcome: the report names the rule to look at. UserError where a user's rule
// fails or joins values of different types, which names its file.
egraph::RunReport saturate(Terms& terms, const Admission& admission,
                           const egraph::RunLimits& limits);
inline egraph::RunReport saturate(Terms& terms, const Admission& admission = {}) {
  return saturate(terms, admission, saturation_limits(terms));
}

}  // namespace luminal::search
