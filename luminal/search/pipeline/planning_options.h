// Options of planning, as compile() passes them.
#pragma once

#include <vector>

#include "luminal/search/cuts/find_plan.h"
#include "luminal/search/rolling/find_loops.h"
#include "luminal/search/terms/rule_set.h"

namespace luminal::search {

struct PlanningOptions {
  std::vector<RuleText> rules;  // beside the embedded ones, in this order
  Admission admission;
  SearchOptions search;
  Rolling roll = Rolling::Off;
  std::vector<FusionForce> fusing = {};  // decided before the search
};

}  // namespace luminal::search
