#include "luminal/backends/cpu/plan/library_choice.h"

#include <algorithm>
#include <map>

#include "luminal/backends/cpu/onednn/library_step.h"
#include "luminal/backends/cpu/plan/measure_library.h"
#include "luminal/backends/cpu/plan/run_plan.h"
#include "luminal/base/check.h"
#include "luminal/kernel/recognise/forms.h"

namespace luminal::backends::cpu {
namespace {

// The library's time must be below this fraction of ours. The margin covers measurement noise on a
// busy machine, and that the library's results depend on the number of threads.
constexpr double kClearlyFaster = 0.97;

std::vector<const kernel::KernelStep*> kernels_of(const kernel::PlannedGraph& planned) {
  std::vector<const kernel::KernelStep*> kernels;
  for (const auto& step : planned.plan.steps) {
    const auto* kernel = std::get_if<kernel::KernelStep>(&step);
    if (kernel != nullptr && kernel->packs.empty()) kernels.push_back(kernel);
  }
  return kernels;
}

bool is_weight(const LoadRequest& request, const RunTensor& tensor) {
  if (tensor.home == Home::Folded) return true;
  const size_t port = tensor.port.index();
  if (tensor.home != Home::Port || port >= request.ports.leaves.size()) return false;
  return request.graph->node(request.ports.leaves[port]).as<InputAttr>().role == Role::Weight;
}

}  // namespace

std::vector<kernel::LibraryChoice> choose_library(
    const LoadRequest& request, const kernel::PlannedGraph& packed,
    const std::function<std::shared_ptr<const CompiledKernel>(const kernel::Kernel&)>& compile) {
  const std::vector<const kernel::KernelStep*> kernels = kernels_of(*request.planned);
  const std::vector<const kernel::KernelStep*> ours = kernels_of(packed);
  LUMINAL_CHECK(kernels.size() == ours.size(), "packing changed the number of kernels");
  std::vector<kernel::LibraryChoice> uses(kernels.size());
  std::map<std::string, kernel::LibraryChoice> known;  // by the kernel's text: equal ones once
  const RunPlan plan = make_run_plan(request);
  // Only steps of every run: load steps run once, so the library isn't worth it there.
  for (const RunStep& step : plan.run_steps) {
    if (!step.kernel.valid()) continue;
    const size_t number = step.kernel.index();
    const kernel::Kernel& kernel = kernels[number]->lowered.kernel;
    if (!kernel::forms_of(kernel).contraction) continue;
    kernel::LibraryChoice& use = uses[number];
    Result<LibraryForm> form = library_form(kernel, request.options.finite);
    if (!form) {
      use.why_none = form.why();
      continue;
    }
    const bool fixed = is_weight(request, plan.tensors[step.params[form->b.param]]);
    const std::string key = (fixed ? "b is a weight\n" : "") + kernel::text(kernel);
    if (const auto found = known.find(key); found != known.end()) {
      use = found->second;
      continue;
    }
    const auto library = LibraryStep::make(std::move(*form), fixed, request.options);
    if (!library) {
      use.why_none = library.why();
    } else {
      use.routine = library_text() + ", " + (*library)->routine();
      use.taken = true;
      if (request.options.library == LibraryPolicy::Measured) {
        const MeasuredLibrary measured = measure_library(
            kernel, **library, *compile(ours[number]->lowered.kernel), request.options);
        use.own_seconds = measured.own_seconds;
        use.library_seconds = measured.library_seconds;
        use.taken = measured.library_seconds < kClearlyFaster * measured.own_seconds;
      }
    }
    known.emplace(key, use);
  }
  return uses;
}

}  // namespace luminal::backends::cpu
