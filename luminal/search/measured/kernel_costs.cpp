#include "luminal/search/measured/kernel_costs.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/kernel/recognise/forms.h"

namespace luminal::search {

std::string KernelCosts::key(const kernel::LoweredKernel& lowered,
                             const kernel::StepChoice& choice) const {
  std::string key =
      fmt::format("{}params {}\n", kernel::text(lowered.kernel), weights_.letters(lowered));
  for (Expr variable : lowered.kernel.variables) {
    key += fmt::format("{} = {}\n", variable.name(), variable.evaluate(sizes_).value.value_or(0));
  }
  const bool is_default = choice.strategy == kernel::default_strategy(lowered.kernel);
  if (!is_default) key += fmt::format("strategy {}\n", kernel::text(choice.strategy));
  if (!choice.schedule.empty()) key += fmt::format("schedule {}\n", kernel::text(choice.schedule));
  return key;
}

std::string KernelCosts::key(const kernel::LoweredKernel& lowered) const {
  return key(lowered, {.strategy = kernel::default_strategy(lowered.kernel)});
}

size_t KernelCosts::kind_of(const kernel::Kernel& kernel) {
  return kernel::forms_of(kernel).contraction ? 1 : 0;
}

double KernelCosts::seconds(const kernel::LoweredKernel& lowered) const {
  const double modelled = search::seconds(lowered, machine_, sizes_);
  const auto known = measured_.find(key(lowered));
  if (known != measured_.end()) return known->second;
  return modelled * kinds_[kind_of(lowered.kernel)].factor() * hope_;
}

void KernelCosts::learn(const kernel::LoweredKernel& lowered, const std::string& key,
                        double seconds) {
  if (!measured_.emplace(key, seconds).second) return;
  std::vector<double>& ratios = kinds_[kind_of(lowered.kernel)].ratios;
  const double ratio = seconds / search::seconds(lowered, machine_, sizes_);
  ratios.insert(std::ranges::upper_bound(ratios, ratio), ratio);
}

}  // namespace luminal::search
