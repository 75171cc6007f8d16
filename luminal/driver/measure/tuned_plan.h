// TunedPlan: what tuning records keep of a search besides its measurements: how far it went, and
// the plan that won, so that a compile with no larger budget starts at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "luminal/base/os/secret.h"
#include "luminal/search/measured/measured_search.h"

namespace luminal {

struct TunedPlan {
  double seconds = 0;  // the budget that it was given
  int candidates = 0;
  search::SearchTrail trail;
  std::string entry;  // the plan with its report; see plan_cache.cpp
  // Whether it is sealed with the secret it was read with: this user's own search wrote it.
  bool is_own = false;
};

// Sealed with `secret`, if there is one. `key` identifies the question: a plan sealed for one
// question isn't valid for another.
std::string write_tuned_plan(const TunedPlan& plan, const std::string& key,
                             const std::optional<base::Secret>& secret);
// ByteError for bytes that aren't one.
TunedPlan read_tuned_plan(std::string_view bytes, const std::string& key,
                          const std::optional<base::Secret>& secret);

}  // namespace luminal
