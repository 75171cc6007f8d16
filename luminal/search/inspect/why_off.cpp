#include "luminal/search/inspect/why_off.h"

#include <fmt/format.h>

#include <algorithm>

namespace luminal::search {

std::string why_off(const RuleInfo& rule, const Admission& admission) {
  if (rule.group == RuleSet::kFacts) return {};
  const auto& disabled = admission.disabled;
  if (std::find(disabled.begin(), disabled.end(), rule.group) != disabled.end()) {
    return fmt::format("its group '{}' is disabled", rule.group);
  }
  if (rule.numeric_class > admission.up_to) {
    return fmt::format("its class '{}' isn't admitted by numerics '{}'", name(rule.numeric_class),
                       name(admission.up_to));
  }
  return {};
}

}  // namespace luminal::search
