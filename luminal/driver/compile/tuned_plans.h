// Plans that were searched by measuring: now, or by an earlier compile that recorded them.
#pragma once

#include "luminal/driver/compile/kept_plan.h"
#include "luminal/driver/measure/plan_tuner.h"

namespace luminal {

// For SearchMode::Measured and Replay. Tuning records take the place of the plan cache.
std::shared_ptr<const kernel::PlannedGraph> searched_plan(const PlanAsked& asked, PlanTuner& tuner);

// For SearchMode::Recorded: the plan in the tuning records; null if they have none that can be
// used. Then a note says why, unless they have nothing of this graph.
std::shared_ptr<const kernel::PlannedGraph> recorded_plan(const PlanAsked& asked,
                                                          const backends::Backend& backend,
                                                          const backends::LoadOptions& load);

}  // namespace luminal
