#include "luminal/machine/streams.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "luminal/base/os/cpu.h"
#include "luminal/base/os/memory.h"
#include "luminal/machine/in_rounds.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace luminal::machine {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kStreams = 8;
// Minimum bytes per round: starting one takes some microseconds.
constexpr size_t kRoundBytes = 64 << 20;
// From this size on, copies use non-temporal stores: a plain store first reads the cache line that
// it overwrites.
constexpr size_t kBypassFrom = 4 << 20;

using Read = uint64_t (*)(const std::byte* from, size_t bytes);
using Copy = void (*)(const std::byte* from, std::byte* to, size_t bytes);

// Eight streams, each with its own accumulator: one of either can't saturate memory.
template <typename Vector>
[[gnu::always_inline]] inline uint64_t read_with(const std::byte* from, size_t bytes) {
  constexpr size_t kVectors = kLine / sizeof(Vector);
  const size_t stream = bytes / kStreams / kLine * kLine;
  Vector sums[kStreams] = {};
  for (size_t at = 0; at < stream; at += kLine) {
#pragma GCC unroll 8
    for (size_t s = 0; s < kStreams; ++s) {
      const auto* line = reinterpret_cast<const Vector*>(from + s * stream + at);
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) sums[s] += line[v];
    }
  }
  uint64_t total = 0;
  for (const Vector& sum : sums) total += sum[0];
  return total;
}

template <typename Vector>
[[gnu::always_inline]] inline void copy_with(const std::byte* from, std::byte* to, size_t bytes) {
  for (size_t at = 0; at + 4 * sizeof(Vector) <= bytes; at += 4 * sizeof(Vector)) {
    const auto* source = reinterpret_cast<const Vector*>(from + at);
    auto* target = reinterpret_cast<Vector*>(to + at);
    const Vector a = source[0], b = source[1], c = source[2], d = source[3];
    target[0] = a;
    target[1] = b;
    target[2] = c;
    target[3] = d;
  }
}

using Word2 [[gnu::vector_size(16)]] = uint64_t;
uint64_t read_128(const std::byte* from, size_t bytes) { return read_with<Word2>(from, bytes); }
void copy_128(const std::byte* from, std::byte* to, size_t bytes) {
  copy_with<Word2>(from, to, bytes);
}

#if defined(__x86_64__)
using Word4 [[gnu::vector_size(32)]] = uint64_t;
using Word8 [[gnu::vector_size(64)]] = uint64_t;
[[gnu::target("avx2")]] uint64_t read_256(const std::byte* from, size_t bytes) {
  return read_with<Word4>(from, bytes);
}
[[gnu::target("avx2")]] void copy_256(const std::byte* from, std::byte* to, size_t bytes) {
  copy_with<Word4>(from, to, bytes);
}
[[gnu::target("avx512f")]] uint64_t read_512(const std::byte* from, size_t bytes) {
  return read_with<Word8>(from, bytes);
}
[[gnu::target("avx512f")]] void copy_512(const std::byte* from, std::byte* to, size_t bytes) {
  copy_with<Word8>(from, to, bytes);
}
void copy_past_caches(const std::byte* from, std::byte* to, size_t bytes) {
  for (size_t at = 0; at + kLine <= bytes; at += kLine) {
    const auto* source = reinterpret_cast<const __m128i*>(from + at);
    auto* target = reinterpret_cast<__m128i*>(to + at);
    _mm_prefetch(reinterpret_cast<const char*>(from + at + 1024), _MM_HINT_T0);
    for (int v = 0; v < 4; ++v) _mm_stream_si128(target + v, _mm_load_si128(source + v));
  }
  _mm_sfence();
}
#endif

struct Streams {
  Read read = read_128;
  Copy copy = copy_128;
  Copy copy_large = copy_128;
};

Streams streams_here() {
  Streams streams;
#if defined(__x86_64__)
  const base::CpuFeatures& features = base::cpu_info().features;
  if (features.avx512f) {
    streams = {read_512, copy_512, copy_past_caches};
  } else if (features.avx2) {
    streams = {read_256, copy_256, copy_past_caches};
  } else {
    streams.copy_large = copy_past_caches;
  }
#endif
  return streams;
}

}  // namespace

size_t memory_buffer_bytes(size_t last_cache) {
  constexpr size_t kLeast = 256 << 20;
  const auto free = static_cast<size_t>(base::memory_info().available / 8);
  return std::min(std::max(2 * last_cache, kLeast), std::max<size_t>(free, 16 << 20));
}

StreamRates measure_streams(size_t bytes, int threads, double seconds) {
  constexpr size_t kStep = 2 * kStreams * kLine;
  bytes = std::max(bytes / kStep, size_t{1}) * kStep;
  const Streams streams = streams_here();
  std::vector<base::LargeBuffer> buffers;
  for (int i = 0; i < threads; ++i) buffers.emplace_back(bytes);
  const size_t passes = std::max<size_t>(1, kRoundBytes / bytes);
  const double gigabytes =
      static_cast<double>(bytes * passes) * static_cast<double>(threads) * 1e-9;
  const auto buffer = [&](int thread) {
    return buffers[static_cast<size_t>(thread)].bytes().data();
  };
  // First touch by the thread that reads the page, so that it is in NUMA-local memory.
  best_round(threads, 0, [&](int thread) { std::memset(buffer(thread), 1, bytes); });
  std::atomic<uint64_t> sink = 0;
  const double read = best_round(threads, seconds, [&](int thread) {
    uint64_t sum = 0;
    for (size_t pass = 0; pass < passes; ++pass) {
      sum += streams.read(buffer(thread), bytes);
      __asm__ volatile("" ::: "memory");  // each pass reads again
    }
    sink += sum;
  });
  const Copy copy = bytes >= kBypassFrom ? streams.copy_large : streams.copy;
  const double copied = best_round(threads, seconds, [&](int thread) {
    for (size_t pass = 0; pass < passes; ++pass) {
      copy(buffer(thread), buffer(thread) + bytes / 2, bytes / 2);
      __asm__ volatile("" ::: "memory");
    }
  });
  return {.read = gigabytes / read, .copy = gigabytes / copied};
}

}  // namespace luminal::machine
