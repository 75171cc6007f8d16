#include "luminal/backends/cpu/launch.h"

#include <omp.h>

#include <algorithm>

#include "luminal/base/check.h"

namespace luminal::backends::cpu {
namespace {

// What one thread of a present-day core does, roughly: enough to tell small kernels from large.
constexpr double kBytesPerMicrosecond = 15e3;
constexpr double kOpsPerMicrosecond = 8e3;

int64_t evaluate(Expr e, const Bindings& bindings) {
  Expr::Value value = e.evaluate(bindings);
  LUMINAL_CHECK(value.value.has_value(), e.text() + " has no value: " + value.why);
  return *value.value;
}

// Ranges of points start at multiples of this: vectors along them then do too.
int64_t grain_of(const Schedule& schedule) {
  return schedule.vector_outer && !schedule.tiling ? 64 : 1;
}

}  // namespace

Launch prepare_launch(const CompiledKernel& kernel, std::span<const int64_t> variables,
                      const LaunchOptions& options) {
  const kernel::Kernel& source = kernel.kernel();
  LUMINAL_CHECK(variables.size() == source.variables.size(),
                "a kernel got another number of variables than it has");
  Bindings bindings;
  for (size_t k = 0; k < variables.size(); ++k) {
    bindings.set(source.variables[k].name(), variables[k]);
  }
  Launch launch{.kernel = &kernel, .variables = {variables.begin(), variables.end()}};
  launch.points = evaluate(kernel.schedule().points, bindings);
  launch.scratch_bytes = evaluate(kernel.schedule().scratch_bytes, bindings);
  const auto bytes = static_cast<double>(evaluate(source.bytes_read, bindings)) +
                     static_cast<double>(evaluate(source.bytes_written, bindings));
  const auto ops = static_cast<double>(evaluate(source.flops, bindings));
  const double us = std::max(bytes / kBytesPerMicrosecond, ops / kOpsPerMicrosecond);
  const int64_t grains = launch.points / grain_of(kernel.schedule());
  if (us >= options.min_parallel_us) {
    launch.threads = static_cast<int>(std::clamp<int64_t>(grains, 1, options.threads));
    launch.team = launch.threads == 1 ? 1 : options.threads;
  }
  return launch;
}

void run(const Launch& launch, std::span<const void* const> params, void* scratch) {
  const CompiledKernel::Function function = launch.kernel->function();
  if (launch.kernel->options().nontemporal_stores) {
    for (size_t k = 0; k < params.size(); ++k) {
      LUMINAL_CHECK(!launch.kernel->kernel().params[k].output ||
                        reinterpret_cast<uintptr_t>(params[k]) % 64 == 0,
                    "stores that bypass the cache need outputs aligned to 64 bytes");
    }
  }
  if (launch.threads <= 1) {
    function(params.data(), launch.variables.data(), 0, launch.points, scratch);
    return;
  }
  const int64_t grain = grain_of(launch.kernel->schedule());
  const int64_t grains = (launch.points + grain - 1) / grain;
#pragma omp parallel num_threads(launch.team)
  {
    // There may be fewer threads than asked for, or more than have points.
    const int64_t n = std::min(omp_get_num_threads(), launch.threads), k = omp_get_thread_num();
    if (k < n) {
      const int64_t begin = std::min(launch.points, grains * k / n * grain);
      const int64_t end = std::min(launch.points, grains * (k + 1) / n * grain);
      function(params.data(), launch.variables.data(), begin, end,
               static_cast<std::byte*>(scratch) + k * launch.scratch_bytes);
    }
  }
}

}  // namespace luminal::backends::cpu
