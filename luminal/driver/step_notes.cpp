#include "luminal/driver/step_notes.h"

#include <fmt/format.h>

#include "luminal/base/check.h"

namespace luminal {

std::shared_ptr<const StepNotes> step_notes(std::shared_ptr<const kernel::PlannedGraph> planned,
                                            const std::vector<KernelReport>& kernels) {
  auto notes = std::make_shared<StepNotes>();
  size_t next = 0;
  for (const auto& step : planned->plan.steps) {
    if (const auto* host = std::get_if<kernel::HostStep>(&step)) {
      const auto source = static_cast<size_t>(host->source);
      notes->steps.push_back({"host " + planned->terms.sources[source].name, {}, {}});
      continue;
    }
    LUMINAL_CHECK(next < kernels.size(), "a kernel of the plan isn't in the report");
    const KernelReport& kernel = kernels[next++];
    notes->steps.push_back({kernel.name, kernel.ops, kernel.rules});
  }
  notes->planned = std::move(planned);
  return notes;
}

std::string type_text(DType dtype, const Dims& dims, const Bindings& bindings) {
  std::string text;
  for (Expr dim : dims) {
    const Expr::Value value = dim.evaluate(bindings);
    text += text.empty() ? "" : ", ";
    text += value.value ? std::to_string(*value.value) : dim.text();
  }
  return fmt::format("{}[{}]", name(dtype), text);
}

}  // namespace luminal
