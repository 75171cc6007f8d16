// TunedPlan: what records keep of a search beside its measurements: how far it went, and the plan
// that won, so that a compile that asks for no more than that starts at once.
#pragma once

#include <string>
#include <string_view>

#include "luminal/search/measured/measured_search.h"

namespace luminal {

struct TunedPlan {
  double seconds = 0;  // the budget that it was given
  int candidates = 0;
  search::SearchTrail trail;
  std::string entry;  // the plan with its report; see plan_cache.cpp
};

std::string write_tuned_plan(const TunedPlan& plan);
// ByteError for bytes that aren't one.
TunedPlan read_tuned_plan(std::string_view bytes);

}  // namespace luminal
