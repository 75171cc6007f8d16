// Launches compiled kernels: chooses the number of threads and divides the points among them.
#pragma once

#include <cstdint>
#include <span>

#include "luminal/backends/cpu/llvm/jit.h"
#include "luminal/runtime/thread_speed.h"

namespace luminal::backends::cpu {

struct LaunchOptions {
  int threads = 1;
  // Kernels that take one thread less than this run on it alone: waking the others costs about a
  // microsecond (0.8–1.4 µs measured).
  double min_parallel_us = 8;
  runtime::ThreadSpeed speed = {};
};

// What a kernel needs for one set of values of its variables; reusable until these change.
struct Launch {
  const CompiledKernel* kernel = nullptr;
  std::vector<int64_t> variables;  // in the order of Kernel::variables
  int64_t points = 0;
  int64_t scratch_bytes = 0;  // per thread, a multiple of 64
  double us = 0;              // estimated time on one thread
  int threads = 1;            // number of threads that have points to run
  int first_thread = 0;       // the first of those
  int pieces = 1;             // into which each thread's points are divided, for work stealing
  int team = 1;               // threads of the parallel region: all or one
};

Launch prepare_launch(const CompiledKernel& kernel, std::span<const int64_t> variables,
                      const LaunchOptions& options);

// For launches that will run in parallel: threads are woken if the launches together are worth it,
// and launches too small to be divided are spread over different threads.
void share_threads(std::span<Launch* const> launches, const LaunchOptions& options);

// A launch and its arguments. `scratch` holds threads · scratch_bytes, aligned to 64.
struct LaunchPart {
  const Launch* launch;
  std::span<const void* const> params;
  void* scratch;
};

// Runs all points on the process's thread pool. Each share is a contiguous range of points, taken
// piece by piece; a thread that is done steals pieces of other shares. Results are bitwise equal
// for any number of threads. Returns whether all gathered indices lay inside of their dims; for one
// outside another row was read, or, of a row to write, nothing was written.
bool run(const Launch& launch, std::span<const void* const> params, void* scratch);

// The same for independent kernels in one parallel region: each thread runs its share of one kernel
// after the other. Those of `then` start when all of `parts` have ended.
bool run_side_by_side(std::span<const LaunchPart> parts, std::span<const LaunchPart> then = {});

}  // namespace luminal::backends::cpu
