#include "luminal/search/measured/plan_digest.h"

#include <fmt/format.h>

#include "luminal/base/digest.h"

namespace luminal::search {

std::string plan_digest(const kernel::Plan& plan) {
  std::string text;
  for (const auto& step : plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel == nullptr) {
      text += fmt::format("host {}\n", std::get<kernel::HostStep>(step).source.number());
      continue;
    }
    text += kernel::text(kernel->lowered.kernel);
    // The default strategy isn't named, so that digests outlive new strategies.
    if (kernel->strategy != kernel::default_strategy(kernel->lowered.kernel)) {
      text += fmt::format("strategy {} ", kernel::text(kernel->strategy));
    }
    text += fmt::format("schedule {}\n", kernel::text(kernel->schedule));
    for (const kernel::ParamOrigin& origin : kernel->lowered.origins) {
      text += fmt::format("{} {}\n", origin.source.number(), origin.value.value);
    }
  }
  return base::digest(text);
}

}  // namespace luminal::search
