#include "luminal/base/peak_flops.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "luminal/base/os_cpu.h"

namespace luminal::base {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kChains = 8;  // an addition takes four cycles, and two start in each
constexpr int64_t kRounds = 20'000;

// A body for every width, compiled into functions that may use it.
template <typename Vector>
[[gnu::always_inline]] inline int64_t add_chains() {
  // Read and written where no compiler may look: chains that start from it differ, and none is
  // computed before the program runs or dropped because nobody asks for its sum.
  volatile float outside = 0.5f;
  Vector sums[kChains];
#pragma GCC unroll 8
  for (Vector& sum : sums) sum = Vector{} + outside;
  const Vector step = Vector{} + outside;
  for (int64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 8
    for (Vector& sum : sums) sum += step;
  }
#pragma GCC unroll 8
  for (const Vector& sum : sums) outside = sum[0];
  return kRounds * kChains * static_cast<int64_t>(sizeof(Vector) / sizeof(float));
}

using Float4 [[gnu::vector_size(16)]] = float;
int64_t add_128() { return add_chains<Float4>(); }

#if defined(__x86_64__)
using Float8 [[gnu::vector_size(32)]] = float;
using Float16 [[gnu::vector_size(64)]] = float;
[[gnu::target("avx2")]] int64_t add_256() { return add_chains<Float8>(); }
[[gnu::target("avx512f")]] int64_t add_512() { return add_chains<Float16>(); }
#endif

using AddChains = int64_t (*)();

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
