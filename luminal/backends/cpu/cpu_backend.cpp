#include "luminal/backends/cpu/cpu_backend.h"

#include "luminal/backends/cpu/cpu_program.h"
#include "luminal/backends/cpu/jit.h"
#include "luminal/backends/cpu/library_matmul.h"
#include "luminal/backends/cpu/micro_shape.h"
#include "luminal/backends/cpu/slow_paths.h"
#include "luminal/base/check.h"
#include "luminal/base/errors.h"

namespace luminal::backends {
namespace {

// Outputs of this size and more bypass the caches: they would only push out what is still needed.
// At 4096 × 4096 that took 25–40 % off softmax, norms and add (kernel_bench).
constexpr int64_t kStreamedBytes = 4 << 20;

// Not where a kernel writes what it just read: those lines are in the cache, and plain stores into
// them took half as long (8 MB and 64 MB, x + 1).
cpu::EmitOptions emit_options(const kernel::Kernel& kernel, bool in_place) {
  cpu::EmitOptions options;
  // Parts of lines, as the tiles of a matrix product write them, had better wait in the cache.
  options.nontemporal_stores = !in_place &&
                               kernel.bytes_written.to_int().value_or(0) >= kStreamedBytes &&
                               !kernel::contraction_form(kernel);
  return options;
}

class CpuBackend : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  bool runs_plans() const override { return true; }

  std::string target(const LoadOptions& options) const override {
    const cpu::Target& target = cpu::Target::named(options.target);
    return target.name + " (" + target.cpu + ", vectors of " +
           std::to_string(target.vector_bytes * 8) + " bits), " + cpu::library_text();
  }

  std::optional<kernel::Packing> packing(const LoadOptions& options) const override {
    const cpu::Target& target = cpu::Target::named(options.target);
    return kernel::Packing{.lanes = target.vector_bytes / 4,
                           .bf16_depth = elements_per_lane(best_multiply(target, DType::BF16))};
  }

  std::vector<std::unique_ptr<runtime::Program>> load(std::span<const LoadRequest> requests,
                                                      LoadReport* report) const override {
    LUMINAL_CHECK(!requests.empty(), "nothing to load");
    const LoadOptions& options = requests.front().options;
    cpu::Jit jit({.target = cpu::Target::named(options.target),
                  .cache_folder = options.cache_folder,
                  .cache_bytes = options.cache_bytes});
    auto shared = std::make_shared<cpu::CpuProgram::Shared>();
    std::vector<std::unique_ptr<runtime::Program>> programs;
    for (const LoadRequest& request : requests) {
      LUMINAL_CHECK(request.planned != nullptr, "the cpu backend was given no plan");
      if (request.options.float64) {
        throw UserError("float64 is the interpreter's: compile with backend \"interp\" for it");
      }
      auto plan = std::make_shared<cpu::RunPlan>(cpu::make_run_plan(request));
      cpu::CpuProgram::Kernels kernels = compile(request, *plan, jit);
      if (report != nullptr) {
        const size_t first = report->kernels.size();
        for (const auto& kernel : kernels) report->kernels.push_back(listing_of(kernel));
        for (const cpu::RunStep& step : plan->run_steps) {
          if (step.kernel < 0) continue;
          report->kernels[first + static_cast<size_t>(step.kernel)].launch = step.launch;
        }
      }
      programs.push_back(
          std::make_unique<cpu::CpuProgram>(request, std::move(plan), std::move(kernels), shared));
    }
    if (report != nullptr) report->notes = jit.cache_notes();
    return programs;
  }

 private:
  static cpu::CpuProgram::Kernels compile(const LoadRequest& request, const cpu::RunPlan& plan,
                                          cpu::Jit& jit) {
    cpu::CpuProgram::Kernels kernels;
    for (const auto& step : request.planned->plan.steps) {
      const auto* kernel = std::get_if<kernel::KernelStep>(&step);
      if (kernel == nullptr) continue;
      const kernel::Kernel& source = kernel->lowered.kernel;
      kernels.push_back(jit.compile(source, emit_options(source, plan.in_place[kernels.size()])));
      if (request.progress) {
        request.progress(static_cast<int>(kernels.size()), request.planned->plan.n_kernels());
      }
    }
    return kernels;
  }

  static KernelListing listing_of(const std::shared_ptr<const cpu::CompiledKernel>& kernel) {
    return {.compile_ms = kernel->compile_ms(),
            .from_cache = kernel->from_cache(),
            .launch = -1,
            .text = kernel::text(kernel->kernel()),
            .slow_paths = cpu::slow_paths(kernel->schedule()),
            .low_level = [kernel] { return kernel->llvm_ir(); },
            .assembly = [kernel] { return kernel->assembly(); }};
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

}  // namespace luminal::backends
