// The same work on several threads, for tests of many cases.
#pragma once

#include <algorithm>
#include <thread>
#include <vector>

namespace luminal::tests {

// Runs `work` on `jobs` threads at once, this one among them, and waits for all; 0: one per core.
template <typename Work>
void on_threads(int jobs, const Work& work) {
  if (jobs <= 0) jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (int k = 1; k < jobs; ++k) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace luminal::tests
