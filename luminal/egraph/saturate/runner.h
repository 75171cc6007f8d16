// Runs a schedule: iterations of search, actions and rebuild, counted and limited.
#pragma once

#include "luminal/egraph/report.h"
#include "luminal/egraph/saturate/engine.h"
#include "luminal/egraph/schedule.h"

namespace luminal::egraph {

// A limit stops the run between two actions and leaves the database rebuilt. A later run continues
// correctly, but searches the rules of the interrupted iteration from scratch.
RunReport run(Engine& engine, const Schedule& schedule, const RunLimits& limits);

}  // namespace luminal::egraph
