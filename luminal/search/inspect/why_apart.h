// Why two values of a graph are computed by different kernels.
#pragma once

#include "luminal/search/inspect/finding.h"
#include "luminal/search/inspect/inspection.h"

namespace luminal::search {

// The field `outcome` is one of
//   together      one kernel computes both
//   apart         one is needed for the other, and values between them are stored: `because` has
//                 each with its reason and figures, `all_inside` the plan that stores none of them
//   independent   neither is needed for the other
//   in-memory     one is there before any kernel runs
//   on-the-host   one is computed by a step on the host
//   not-computed  no kernel computes one of them: nothing needs it, or rules put it in other terms
// The others say where: `first` and `second`. UserError where there is no plan.
Finding why_apart(Inspection& inspection, NodeId first, NodeId second);

}  // namespace luminal::search
