// Launching compiled kernels: how many threads, which points each runs.
#pragma once

#include <cstdint>
#include <span>

#include "luminal/backends/cpu/llvm/jit.h"
#include "luminal/runtime/thread_speed.h"

namespace luminal::backends::cpu {

struct LaunchOptions {
  int threads = 1;
  // Kernels that one thread finishes sooner than this stay on it: waking the others costs about a
  // microsecond (0.8–1.4 µs measured).
  double min_parallel_us = 8;
  runtime::ThreadSpeed speed = {};
};

// What a kernel needs for one set of values of its variables. Worth keeping while they stay.
struct Launch {
  const CompiledKernel* kernel = nullptr;
  std::vector<int64_t> variables;  // in the order of Kernel::variables
  int64_t points = 0;
  int64_t scratch_bytes = 0;  // per thread, a multiple of 64
  double us = 0;              // roughly, on one thread
  int threads = 1;            // that have points to run
  int first_thread = 0;       // the first of those
  int pieces = 1;             // that each of them takes its points in
  int team = 1;               // shares that it runs in: all threads or one
};

Launch prepare_launch(const CompiledKernel& kernel, std::span<const int64_t> variables,
                      const LaunchOptions& options);

// For launches that will run side by side: threads are woken if all of them together are worth it,
// and those too small to be shared go to different ones.
void share_threads(std::span<Launch* const> launches, const LaunchOptions& options);

// A launch and where its data is. `scratch` holds threads · scratch_bytes, aligned to 64.
struct LaunchPart {
  const Launch* launch;
  std::span<const void* const> params;
  void* scratch;
};

// Runs all points in shares on the process's pool of threads; who has a share takes its contiguous
// range of points, piece by piece, and then what others have left of theirs. The results are the
// same bits for any number of threads. Returns whether all indices that the kernel looked at lay
// inside of their dims; for those outside another row was read, or, of rows to write, none written.
bool run(const Launch& launch, std::span<const void* const> params, void* scratch);

// The same for kernels that don't wait for one another: threads are woken once, and each takes its
// range of one after the other. Those of `then` wait for all others to end.
bool run_side_by_side(std::span<const LaunchPart> parts, std::span<const LaunchPart> then = {});

}  // namespace luminal::backends::cpu
