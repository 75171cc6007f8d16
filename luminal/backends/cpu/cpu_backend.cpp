#include "luminal/backends/cpu/cpu_backend.h"

#include "luminal/backends/cpu/cpu_program.h"
#include "luminal/backends/cpu/jit.h"
#include "luminal/base/check.h"
#include "luminal/base/errors.h"

namespace luminal::backends {
namespace {

// Outputs of this size and more bypass the caches: they would only push out what is still needed.
// At 4096 × 4096 that took 25–40 % off softmax, norms and add (kernel_bench).
constexpr int64_t kStreamedBytes = 4 << 20;

cpu::EmitOptions emit_options(const kernel::Kernel& kernel) {
  cpu::EmitOptions options;
  options.nontemporal_stores = kernel.bytes_written.to_int().value_or(0) >= kStreamedBytes;
  return options;
}

class CpuBackend : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  bool runs_plans() const override { return true; }

  std::string target(const LoadOptions& options) const override {
    const cpu::Target& target = cpu::Target::named(options.target);
    return target.name + " (" + target.cpu + ", vectors of " +
           std::to_string(target.vector_bytes * 8) + " bits)";
  }

  std::unique_ptr<runtime::Program> load(const LoadRequest& request,
                                         std::vector<KernelListing>* listing) const override {
    LUMINAL_CHECK(request.planned != nullptr, "the cpu backend was given no plan");
    if (request.options.float64) {
      throw UserError("float64 is the interpreter's: compile with backend \"interp\" for it");
    }
    cpu::Jit jit({.target = cpu::Target::named(request.options.target),
                  .cache_folder = request.options.cache_folder});
    std::vector<std::shared_ptr<const cpu::CompiledKernel>> kernels;
    for (const auto& step : request.planned->plan.steps) {
      const auto* kernel = std::get_if<kernel::KernelStep>(&step);
      if (kernel == nullptr) continue;
      kernels.push_back(jit.compile(kernel->lowered.kernel, emit_options(kernel->lowered.kernel)));
      if (listing != nullptr) listing->push_back(listing_of(kernels.back()));
    }
    return std::make_unique<cpu::CpuProgram>(request, std::move(kernels));
  }

 private:
  static KernelListing listing_of(const std::shared_ptr<const cpu::CompiledKernel>& kernel) {
    return {.compile_ms = kernel->compile_ms(),
            .from_cache = kernel->from_cache(),
            .text = kernel::text(kernel->kernel()),
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
