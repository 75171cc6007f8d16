#include "luminal/kernel/plan/strategy.h"

#include <algorithm>

#include "luminal/kernel/plan/plan.h"
#include "luminal/kernel/recognise/forms.h"

namespace luminal::kernel {
namespace {

constexpr std::string_view kTexts[] = {"loops", "matmul", "row_blocks", "split_attention",
                                       "library"};

}  // namespace

std::string_view text(Strategy strategy) { return kTexts[static_cast<size_t>(strategy)]; }

std::optional<Strategy> strategy_of(std::string_view text) {
  const auto* at = std::ranges::find(kTexts, text);
  if (at == std::end(kTexts)) return std::nullopt;
  return static_cast<Strategy>(at - std::begin(kTexts));
}

std::vector<Strategy> strategies(const Kernel& kernel) {
  const Forms& forms = forms_of(kernel);
  std::vector<Strategy> all;
  if (forms.split) all.push_back(Strategy::SplitAttention);
  if (forms.contraction) all.push_back(Strategy::Matmul);
  if (forms.row_blocks) all.push_back(Strategy::RowBlocks);
  all.push_back(Strategy::Loops);
  return all;
}

Strategy default_strategy(const Kernel& kernel) { return strategies(kernel).front(); }

bool allows(const Kernel& kernel, Strategy strategy) {
  if (strategy == Strategy::Library) return forms_of(kernel).contraction.has_value();
  return std::ranges::count(strategies(kernel), strategy) > 0;
}

KernelStep make_step(LoweredKernel lowered, double model_seconds) {
  const Strategy strategy = default_strategy(lowered.kernel);
  return {.lowered = std::move(lowered), .model_seconds = model_seconds, .strategy = strategy};
}

std::string text(const StepChoice& choice) {
  std::string out(text(choice.strategy));
  return choice.schedule.empty() ? out : out + ", " + text(choice.schedule);
}

}  // namespace luminal::kernel
