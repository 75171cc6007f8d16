// Launching a compiled kernel: how many threads, which points each runs.
#pragma once

#include <cstdint>
#include <span>

#include "luminal/backends/cpu/jit.h"

namespace luminal::backends::cpu {

struct LaunchOptions {
  int threads = 1;
  // Kernels that one thread finishes sooner than this stay on it: waking the others costs about a
  // microsecond (0.8–1.4 µs measured).
  double min_parallel_us = 8;
};

// What a kernel needs for one set of values of its variables. Worth keeping while they stay.
struct Launch {
  const CompiledKernel* kernel = nullptr;
  std::vector<int64_t> variables;  // in the order of Kernel::variables
  int64_t points = 0;
  int64_t scratch_bytes = 0;  // per thread, a multiple of 64
  int threads = 1;            // that have points to run
  int team = 1;  // that are woken: always all or none, since OpenMP allocates when it changes
};

Launch prepare_launch(const CompiledKernel& kernel, std::span<const int64_t> variables,
                      const LaunchOptions& options);

// Runs all points; each thread takes one contiguous range of them. `scratch` holds threads ·
// scratch_bytes, aligned to 64. The results are the same bits for any number of threads.
void run(const Launch& launch, std::span<const void* const> params, void* scratch);

}  // namespace luminal::backends::cpu
