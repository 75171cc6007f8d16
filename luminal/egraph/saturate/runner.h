// Running a schedule: iterations of search, actions and rebuild, counted and limited.
#pragma once

#include "luminal/egraph/report.h"
#include "luminal/egraph/saturate/engine.h"
#include "luminal/egraph/schedule.h"

namespace luminal::egraph {

// A limit ends it between two actions, with the database rebuilt; running on from there is right,
// but searches the rules of the interrupted iteration from the start.
RunReport run(Engine& engine, const Schedule& schedule, const RunLimits& limits);

}  // namespace luminal::egraph
