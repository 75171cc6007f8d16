#include "luminal/base/peak_flops.h"

#include "luminal/base/os_cpu.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

namespace luminal::base {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kChains = 8;  // an addition takes four cycles, and two start in each
constexpr int64_t kRounds = 20'000;

// One body for every width: `bytes` wide vectors, as many chains as hide the latency. The sums are
// handed to the assembler as used, so that no compiler folds them.
#define LUMINAL_ADD_CHAINS(bytes)                           \
  typedef float Vector __attribute__((vector_size(bytes))); \
  Vector sums[kChains] = {};                                \
  Vector step = {};                                         \
  step += 0.5f;                                             \
  for (int64_t round = 0; round < kRounds; ++round) {       \
    for (int chain = 0; chain < kChains; ++chain) {         \
      sums[chain] += step;                                  \
      asm volatile("" : "+v"(sums[chain]));                 \
    }                                                       \
  }                                                         \
  return kRounds * kChains * static_cast<int64_t>(bytes / sizeof(float));

#if defined(__x86_64__)
__attribute__((target("avx512f"))) int64_t add_512() { LUMINAL_ADD_CHAINS(64) }
__attribute__((target("avx2"))) int64_t add_256(){LUMINAL_ADD_CHAINS(32)} int64_t
    add_128(){LUMINAL_ADD_CHAINS(16)}
#else
int64_t add_128() {
  float sums[kChains] = {};
  for (int64_t round = 0; round < kRounds; ++round) {
    for (float& sum : sums) {
      sum += 0.5f;
      asm volatile("" : "+m"(sum));
    }
  }
  return kRounds * kChains;
}
#endif
#undef LUMINAL_ADD_CHAINS

using AddChains = int64_t(*)();

AddChains widest() {
#if defined(__x86_64__)
  if (cpu_info().features.avx512f) return add_512;
  if (cpu_info().features.avx2) return add_256;
#endif
  return add_128;
}

}  // namespace

double measure_peak_flops(unsigned threads, double seconds) {
  const AddChains add = widest();
  std::vector<double> best(std::max(threads, 1u), 0.0);
  const auto start = Clock::now();
  // The fastest round of each thread: others may have the core for most of the time.
  const auto work = [&](double& mine) {
    auto before = Clock::now();
    while (std::chrono::duration<double>(before - start).count() < seconds) {
      const auto ops = static_cast<double>(add());
      const auto after = Clock::now();
      mine = std::max(mine, ops / std::chrono::duration<double>(after - before).count());
      before = after;
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back([&, i] { work(best[i]); });
  work(best[0]);
  for (std::thread& thread : others) thread.join();
  return std::accumulate(best.begin(), best.end(), 0.0);
}

}  // namespace luminal::base
