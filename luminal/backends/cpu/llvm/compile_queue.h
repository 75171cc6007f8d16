// CompileQueue: compiles the kernels of a plan on several threads, equal ones once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "luminal/backends/cpu/llvm/jit.h"

namespace luminal::backends::cpu {

class CompileQueue {
 public:
  explicit CompileQueue(Jit& jit) : jit_(jit) {}

  // Adds a kernel that step `number` of the plan runs, after those added for it before. The kernel
  // must outlive run().
  void add(const kernel::Kernel& kernel, const EmitOptions& options, size_t number);

  // Compiles all kernels. `progress` is called only on this thread, with the number of finished
  // steps. An error of any kernel is rethrown once all threads have stopped.
  void run(int threads, const std::function<void(int)>& progress);

  // The compiled kernels of step `number`, in the order of add().
  std::vector<std::shared_ptr<const CompiledKernel>> made(size_t number) const;

 private:
  struct Job {
    const kernel::Kernel* kernel;
    EmitOptions options;
    int uses = 0;
    std::shared_ptr<const CompiledKernel> made = nullptr;
  };
  Jit& jit_;
  std::vector<Job> jobs_;
  std::map<std::string, size_t> known_;       // by text and options: into jobs_
  std::vector<std::vector<size_t>> of_step_;  // by step: into jobs_
};

}  // namespace luminal::backends::cpu
