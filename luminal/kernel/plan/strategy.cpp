#include "luminal/kernel/plan/strategy.h"

#include <algorithm>

#include "luminal/kernel/ir/inst_uses.h"
#include "luminal/kernel/plan/plan.h"
#include "luminal/kernel/recognise/forms.h"

namespace luminal::kernel {
namespace {

constexpr std::string_view kTexts[] = {"loops", "matmul", "row_blocks", "split_attention",
                                       "library"};

// Up to so many products of an element of a window, copying windows into panels costs more than
// computing with them: a depthwise convolution of up to 8×8. Windows that micro kernels read from
// one copy (WindowForms) need no panels: those of 3×3 to 7×7 are faster as a GEMM (two_ways_bench
// depthwise).
constexpr int64_t kFewProducts = 64;

// Whether an index moves along a column and along the sum: neighbouring windows share elements.
bool slides(const Index& index, const ContractionForm& form, LoopId k) {
  return uses_loop(index.expr, k) &&
         std::ranges::any_of(form.columns, [&](LoopId l) { return uses_loop(index.expr, l); });
}

// Whether the right factors are windows, and vectors along the last column lie in memory as they
// are: only the last index of what is loaded uses that loop.
bool reads_windows_in_rows(const Kernel& kernel, const ContractionForm& form) {
  const LoopId column = form.columns.back();
  for (const Contraction& contraction : form.contractions) {
    const Stage& stage = kernel.stages[contraction.stage];
    const std::vector<bool> needed = needed_for(stage, contraction.right);
    bool windows = false;
    for (size_t k = 0; k < needed.size(); ++k) {
      const auto* load = std::get_if<LoadInst>(&stage.body[k].what);
      if (!needed[k] || load == nullptr) continue;
      for (const Index& index : load->index) {
        if (index.value) return false;
        if (&index != &load->index.back() && uses_loop(index.expr, column)) return false;
        windows = windows || slides(index, form, contraction.k);
      }
    }
    if (!windows) return false;
  }
  return true;
}

bool has_few_products(const Kernel& kernel, const ContractionForm& form) {
  return products_of_column(kernel, form).upper_bound() <= kFewProducts &&
         reads_windows_in_rows(kernel, form);
}

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
  const bool loops_first =
      forms.contraction && !forms.windows && has_few_products(kernel, *forms.contraction);
  if (loops_first) all.push_back(Strategy::Loops);
  if (forms.contraction) all.push_back(Strategy::Matmul);
  if (forms.row_blocks) all.push_back(Strategy::RowBlocks);
  if (!loops_first) all.push_back(Strategy::Loops);
  if (!forms.split && forms.keys_of_range > 0) all.push_back(Strategy::SplitAttention);
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
