#include "luminal/backends/cpu/llvm/compile_queue.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace luminal::backends::cpu {

void CompileQueue::add(const kernel::Kernel& kernel, const EmitOptions& options, size_t number) {
  const auto [at, is_new] = known_.try_emplace(kernel_name(kernel, options), jobs_.size());
  if (is_new) jobs_.push_back({.kernel = &kernel, .options = options});
  ++jobs_[at->second].uses;
  of_step_.resize(std::max(of_step_.size(), number + 1));
  of_step_[number].push_back(at->second);
}

void CompileQueue::run(int threads, const std::function<void(int)>& progress) {
  std::atomic<size_t> next = 0;
  std::atomic<int> done = 0;
  std::mutex mutex;
  std::exception_ptr error;
  auto work = [&](bool reports) {
    for (size_t k = next++; k < jobs_.size(); k = next++) {
      try {
        jobs_[k].made = jit_.compile(*jobs_[k].kernel, jobs_[k].options);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        next = jobs_.size();
      }
      const int so_far = done += jobs_[k].uses;
      if (reports) progress(so_far);
    }
  };
  const size_t most = std::min(static_cast<size_t>(std::max(threads, 1)), jobs_.size());
  std::vector<std::thread> others;
  for (size_t t = 1; t < most; ++t) others.emplace_back(work, false);
  work(true);
  for (std::thread& other : others) other.join();
  if (error) std::rethrow_exception(error);
}

std::vector<std::shared_ptr<const CompiledKernel>> CompileQueue::made(size_t number) const {
  std::vector<std::shared_ptr<const CompiledKernel>> kernels;
  if (number >= of_step_.size()) return kernels;
  for (size_t job : of_step_[number]) kernels.push_back(jobs_[job].made);
  return kernels;
}

}  // namespace luminal::backends::cpu
