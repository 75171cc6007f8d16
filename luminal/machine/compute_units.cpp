#include "luminal/machine/compute_units.h"

#include "luminal/base/os/cpu.h"
#include "luminal/machine/in_rounds.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace luminal::machine {
namespace {

constexpr int64_t kRounds = 4000;
constexpr int kRepeats = 50;  // some hundred µs, long compared to starting the threads together
constexpr int kChains = 12;   // more than latency × ports of any unit, fewer than the registers

// Keeps the compiler from dropping a value or knowing what it is. The constraint is memory, since
// which registers exist depends on the function's target. For chains it is applied to copies, so
// that the chains themselves stay in registers.
template <typename Vector>
[[gnu::always_inline]] inline void use(Vector& value) {
  __asm__ volatile("" : "+m"(value));
}

// For any processor: the compiler's generic vectors of four.
int64_t plain_f32() {
  using Float4 [[gnu::vector_size(16)]] = float;
  Float4 factor = {0.5f, 0.5f, 0.5f, 0.5f};
  use(factor);
  Float4 chains[kChains];
  for (Float4& chain : chains) chain = factor;
  for (int64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (Float4& chain : chains) chain = chain * factor + factor;
  }
  for (Float4 chain : chains) use(chain);
  return kRounds * kChains * 2 * 4;
}

#if defined(__x86_64__)
#define LUMINAL_FOR(features) [[gnu::target(features)]]

LUMINAL_FOR("avx2,fma") int64_t fma_256() {
  __m256 chains[kChains];
  __m256 factor = _mm256_set1_ps(0.5f);
  use(factor);
  for (__m256& chain : chains) chain = factor;
  for (int64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (__m256& chain : chains) chain = _mm256_fmadd_ps(chain, factor, factor);
  }
  for (__m256 chain : chains) use(chain);
  return kRounds * kChains * 2 * 8;
}

LUMINAL_FOR("avx512f") int64_t fma_512() {
  __m512 chains[kChains];
  __m512 factor = _mm512_set1_ps(0.5f);
  use(factor);
  for (__m512& chain : chains) chain = factor;
  for (int64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (__m512& chain : chains) chain = _mm512_fmadd_ps(chain, factor, factor);
  }
  for (__m512 chain : chains) use(chain);
  return kRounds * kChains * 2 * 16;
}

LUMINAL_FOR("avx512fp16,avx512vl") int64_t fma_f16() {
  __m512h chains[kChains];
  __m512h factor = _mm512_castsi512_ph(_mm512_set1_epi16(0x3800));  // 0.5
  use(factor);
  for (__m512h& chain : chains) chain = factor;
  for (int64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (__m512h& chain : chains) chain = _mm512_fmadd_ph(chain, factor, factor);
  }
  for (__m512h chain : chains) use(chain);
  return kRounds * kChains * 2 * 32;
}

// vdpbf16ps: adds two bf16 products to each f32.
LUMINAL_FOR("avx512bf16,avx512f") int64_t dot_bf16() {
  __m512 chains[kChains];
  __m512i ones = _mm512_set1_epi16(0x3f00);  // 0.5
  use(ones);
  for (__m512& chain : chains) chain = _mm512_setzero_ps();
  for (int64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (__m512& chain : chains) chain = _mm512_dpbf16_ps(chain, (__m512bh)ones, (__m512bh)ones);
  }
  for (__m512 chain : chains) use(chain);
  return kRounds * kChains * 2 * 32;
}

// vpdpbusd: adds four byte products to each i32.
LUMINAL_FOR("avx512vnni,avx512f") int64_t dot_i8() {
  __m512i chains[kChains];
  __m512i ones = _mm512_set1_epi8(1);
  use(ones);
  for (__m512i& chain : chains) chain = _mm512_setzero_si512();
  for (int64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (__m512i& chain : chains) chain = _mm512_dpbusd_epi32(chain, ones, ones);
  }
  for (__m512i chain : chains) use(chain);
  return kRounds * kChains * 2 * 64;
}

// Without VNNI: sums of two byte products in 16 bits (vpmaddubsw), of four in 32 bits (vpmaddwd).
LUMINAL_FOR("avx2") int64_t dot_i8_256() {
  __m256i chains[kChains];
  __m256i ones = _mm256_set1_epi8(1), pairs = _mm256_set1_epi16(1);
  use(ones);
  use(pairs);
  for (__m256i& chain : chains) chain = _mm256_setzero_si256();
  for (int64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (__m256i& chain : chains) {
      const __m256i sums = _mm256_madd_epi16(_mm256_maddubs_epi16(ones, chain), pairs);
      chain = _mm256_add_epi32(chain, sums);
    }
  }
  for (__m256i chain : chains) use(chain);
  return kRounds * kChains * 2 * 32;
}

// AMX tiles of 16 rows of 64 bytes: four accumulators, each of the products of two tiles.
struct alignas(64) TileShape {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

LUMINAL_FOR("amx-tile") void begin_tiles() {
  static const TileShape shape;
  __asm__ volatile("" ::: "memory");  // the shape is stored before it is read
  _tile_loadconfig(&shape);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
}

LUMINAL_FOR("amx-tile,amx-bf16") int64_t tiles_bf16() {
  begin_tiles();
  for (int64_t round = 0; round < kRounds / 16; ++round) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
  return kRounds / 16 * 4 * 2 * 16 * 16 * 32;
}

LUMINAL_FOR("amx-tile,amx-int8") int64_t tiles_i8() {
  begin_tiles();
  for (int64_t round = 0; round < kRounds / 16; ++round) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  _tile_release();
  return kRounds / 16 * 4 * 2 * 16 * 16 * 64;
}

std::vector<ComputeUnit> f32_units(const base::CpuFeatures& features) {
  if (features.avx512f) return {{"fma-avx512", fma_512}};
  if (features.avx2 && features.fma) return {{"fma-avx2", fma_256}};
  return {{"plain", plain_f32}};
}
#endif

}  // namespace

std::vector<ComputeUnit> compute_units(DType dtype) {
#if defined(__x86_64__)
  const base::CpuFeatures& features = base::cpu_info().features;
  std::vector<ComputeUnit> units = f32_units(features);
  if (dtype == DType::BF16) {
    if (features.avx512_bf16) units.push_back({"avx512-bf16", dot_bf16});
    if (features.amx_bf16 && base::may_use_amx()) units.push_back({"amx-bf16", tiles_bf16});
  } else if (dtype == DType::F16) {
    if (features.avx512_fp16) units.push_back({"avx512-fp16", fma_f16});
  } else if (dtype == DType::I8) {
    if (features.avx2) units.push_back({"avx2", dot_i8_256});
    if (features.avx512_vnni) units.push_back({"avx512-vnni", dot_i8});
    if (features.amx_int8 && base::may_use_amx()) units.push_back({"amx-int8", tiles_i8});
  }
  return units;
#else
  (void)dtype;
  return {{"plain", plain_f32}};
#endif
}

double measure_unit(const ComputeUnit& unit, int threads, double seconds) {
  const auto per_round = static_cast<double>(unit.round()) * kRepeats;
  const double best = best_round(threads, seconds, [&](int) {
    for (int i = 0; i < kRepeats; ++i) unit.round();
  });
  return per_round * static_cast<double>(threads) / best;
}

}  // namespace luminal::machine
