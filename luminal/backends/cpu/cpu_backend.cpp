#include "luminal/backends/cpu/cpu_backend.h"

#include <algorithm>

#include "luminal/backends/cpu/llvm/compile_queue.h"
#include "luminal/backends/cpu/llvm/jit.h"
#include "luminal/backends/cpu/onednn/library_matmul.h"
#include "luminal/backends/cpu/plan/library_choice.h"
#include "luminal/backends/cpu/plan/split_attention.h"
#include "luminal/backends/cpu/program/cpu_program.h"
#include "luminal/backends/cpu/program/kept_code.h"
#include "luminal/backends/cpu/schedule/candidates.h"
#include "luminal/backends/cpu/schedule/micro_shape.h"
#include "luminal/backends/cpu/schedule/slow_paths.h"
#include "luminal/base/check.h"
#include "luminal/base/errors.h"
#include "luminal/kernel/recognise/forms.h"

namespace luminal::backends {
namespace {

// Outputs from this size on use non-temporal stores: cached, they would only evict data that is
// still needed. At 4096 × 4096 that saved 25–40 % of softmax, norms and add (kernel_bench).
constexpr int64_t kStreamedBytes = 4 << 20;

// No non-temporal stores in place: lines that were just read are in the cache, and plain stores
// into them took half as long (8 MB and 64 MB, x + 1).
cpu::EmitOptions emit_options(const kernel::Kernel& kernel, bool in_place,
                              const kernel::StepChoice& choice) {
  cpu::EmitOptions options{.strategy = choice.strategy, .choices = choice.schedule};
  // GEMM tiles write partial cache lines, so their stores stay temporal.
  options.nontemporal_stores = !in_place &&
                               kernel.bytes_written.to_int().value_or(0) >= kStreamedBytes &&
                               choice.strategy != kernel::Strategy::Matmul;
  if (const auto streams = choice.schedule.find(kernel::Knob::Streams)) {
    options.nontemporal_stores = *streams != 0;
  }
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
    return packing_for(cpu::Target::named(options.target));
  }

  std::vector<kernel::LibraryChoice> choose_library(
      const LoadRequest& request, const kernel::PlannedGraph& packed) const override {
    if (request.options.library == LibraryPolicy::Never || !cpu::library_available()) {
      if (request.options.library == LibraryPolicy::Always) {
        throw UserError(
            "library 'always': this build has no oneDNN; configure it with LUMINAL_ONEDNN=ON, or "
            "choose 'measured' or 'never'");
      }
      return Backend::choose_library(request, packed);
    }
    cpu::Jit jit = jit_for(request.options);
    return cpu::choose_library(request, packed, [&](const kernel::Kernel& kernel) {
      return jit.compile(kernel,
                         emit_options(kernel, false, {.strategy = kernel::Strategy::Matmul}));
    });
  }

  std::vector<kernel::StepChoice> candidates(const kernel::KernelStep& step,
                                             const LoadOptions& options) const override {
    return cpu::candidates(step, cpu::Target::named(options.target), options.reorder_sums);
  }

  std::vector<std::unique_ptr<runtime::Program>> load(std::span<const LoadRequest> requests,
                                                      LoadReport* report) const override {
    LUMINAL_CHECK(!requests.empty(), "nothing to load");
    cpu::Jit jit = jit_for(requests.front().options);
    auto shared = std::make_shared<cpu::CpuProgram::Shared>();
    std::vector<std::unique_ptr<runtime::Program>> programs;
    for (const LoadRequest& request : requests) {
      LUMINAL_CHECK(request.planned != nullptr, "the cpu backend was given no plan");
      if (request.options.float64) {
        throw UserError(
            "float64 arithmetic is not supported by backend \"cpu\"; compile with backend "
            "\"interp\"");
      }
      auto plan = std::make_shared<cpu::RunPlan>(cpu::make_run_plan(request));
      cpu::CpuProgram::Kernels kernels =
          request.code == nullptr ? compile(request, *plan, jit)
                                  : cpu::read_code(*request.code, request.planned->plan, jit);
      if (report != nullptr && request.options.keep_code) {
        report->code.push_back(cpu::write_code(kernels, jit.target()));
      }
      if (report != nullptr) {
        const size_t first = report->kernels.size();
        for (const auto& kernel : kernels) report->kernels.push_back(listing_of(kernel));
        for (const cpu::RunStep& step : plan->run_steps) {
          if (!step.kernel.valid()) continue;
          report->kernels[first + step.kernel.index()].launch = step.launch;
        }
        const std::vector<std::string> notes = cpu::held_twice(*plan);
        report->notes.insert(report->notes.end(), notes.begin(), notes.end());
      }
      programs.push_back(
          std::make_unique<cpu::CpuProgram>(request, std::move(plan), std::move(kernels), shared));
    }
    if (report == nullptr) return programs;
    const std::vector<std::string> notes = jit.cache_notes();
    report->notes.insert(report->notes.end(), notes.begin(), notes.end());
    if (requests.front().options.library == LibraryPolicy::Measured && !cpu::library_available()) {
      report->notes.push_back(
          "nothing was measured: this build has no oneDNN (LUMINAL_ONEDNN), so compiled kernels "
          "compute all products");
    }
    return programs;
  }

 private:
  static cpu::Jit jit_for(const LoadOptions& options) {
    return cpu::Jit({.target = cpu::Target::named(options.target),
                     .cache_folder = options.cache_folder,
                     .cache_bytes = options.cache_bytes,
                     .keep_objects = options.keep_code});
  }

  static cpu::CpuProgram::Kernels compile(const LoadRequest& request, const cpu::RunPlan& plan,
                                          cpu::Jit& jit) {
    cpu::CpuProgram::Kernels kernels;
    cpu::CompileQueue queue(jit);
    for (const auto& step : request.planned->plan.steps) {
      const auto* kernel = std::get_if<kernel::KernelStep>(&step);
      if (kernel == nullptr) continue;
      const kernel::Kernel& source = kernel->lowered.kernel;
      const kernel::KernelId id = kernels.push_back({});
      const size_t number = id.index();
      if (kernel->strategy == kernel::Strategy::Library) continue;
      if (kernel->strategy == kernel::Strategy::SplitAttention) {
        kernels.back().split = cpu::split_of(*kernel);
        queue.add(kernels.back().split->ranges, {}, number);
        queue.add(kernels.back().split->together, {}, number);
      } else {
        queue.add(source,
                  emit_options(source, plan.in_place[id], {kernel->strategy, kernel->schedule}),
                  number);
      }
    }
    const int total = request.planned->plan.n_kernels();
    // Reports each number exactly once: several kernels may finish between two calls, and a kernel
    // may be compiled as two or not at all.
    int reported = 0;
    const auto progress = [&](int done) {
      while (request.progress && reported < std::min(done, total)) {
        request.progress(++reported, total);
      }
    };
    queue.run(request.options.threads, progress);
    progress(total);
    for (kernel::KernelId id : kernels.ids()) {
      cpu::CpuProgram::StepCode& code = kernels[id];
      for (const auto& compiled : queue.made(id.index())) {
        (code.kernel == nullptr ? code.kernel : code.second) = compiled;
      }
    }
    return kernels;
  }

  static KernelListing listing_of(const cpu::CpuProgram::StepCode& code) {
    if (code.kernel == nullptr) return {};  // computed by the library
    const auto &first = code.kernel, &second = code.second;
    if (first->is_loaded()) {
      KernelListing loaded;  // loaded machine code: nothing else is known
      loaded.compile_ms = first->compile_ms();
      loaded.from_cache = true;
      return loaded;
    }
    KernelListing listing{
        .compile_ms = first->compile_ms(),
        .from_cache = first->from_cache(),
        .launch = -1,
        .slow_paths = cpu::slow_paths(first->schedule()),
        .low_level = [=] { return first->llvm_ir() + (second ? second->llvm_ir() : ""); },
        .assembly = [=] { return first->assembly() + (second ? second->assembly() : ""); }};
    if (second == nullptr) return listing;
    listing.compile_ms += second->compile_ms();
    listing.from_cache = listing.from_cache && second->from_cache();
    return listing;
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

}  // namespace luminal::backends
