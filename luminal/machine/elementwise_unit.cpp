#include <cstdint>

#include "luminal/base/os/cpu.h"
#include "luminal/machine/compute_units.h"

namespace luminal::machine {
namespace {

constexpr int kAddChains = 8;  // latency of an addition (4 cycles) × 2 ports
constexpr int64_t kAddRounds = 20'000;

// The body for any vector width, inlined into functions whose target has that width.
template <typename Vector>
[[gnu::always_inline]] inline int64_t add_chains() {
  // Opaque to the compiler, so that it can't merge the chains, evaluate them at compile time or
  // drop them as unused.
  volatile float outside = 0.5f;
  Vector sums[kAddChains];
#pragma GCC unroll 8
  for (Vector& sum : sums) sum = Vector{} + outside;
  const Vector step = Vector{} + outside;
  for (int64_t round = 0; round < kAddRounds; ++round) {
#pragma GCC unroll 8
    for (Vector& sum : sums) sum += step;
  }
#pragma GCC unroll 8
  for (const Vector& sum : sums) outside = sum[0];
  return kAddRounds * kAddChains * static_cast<int64_t>(sizeof(Vector) / sizeof(float));
}

using Float4 [[gnu::vector_size(16)]] = float;
int64_t add_128() { return add_chains<Float4>(); }

#if defined(__x86_64__)
using Float8 [[gnu::vector_size(32)]] = float;
using Float16 [[gnu::vector_size(64)]] = float;
[[gnu::target("avx2")]] int64_t add_256() { return add_chains<Float8>(); }
[[gnu::target("avx512f")]] int64_t add_512() { return add_chains<Float16>(); }
#endif

}  // namespace

ComputeUnit elementwise_unit() {
#if defined(__x86_64__)
  if (base::cpu_info().features.avx512f) return {"add-avx512", add_512};
  if (base::cpu_info().features.avx2) return {"add-avx2", add_256};
#endif
  return {"add", add_128};
}

}  // namespace luminal::machine
