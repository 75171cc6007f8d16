#include "luminal/base/read_bandwidth.h"

#include "luminal/base/os_cpu.h"
#include "luminal/base/os_limits.h"
#include "luminal/base/os_memory.h"
#include "luminal/base/seconds_since.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

namespace luminal::base {
namespace {

constexpr size_t kStreams = 8;  // one stream reached 29 GB/s where eight reached 41.6
constexpr size_t kLine = 64;
constexpr size_t kPrefetchBytes = 1024;
constexpr size_t kWantedBytes = size_t{1} << 30;

// Wide enough for every vector unit; the compiler splits it where the unit is narrower.
typedef uint64_t Vector __attribute__((vector_size(kLine), aligned(kLine)));

using Clock = std::chrono::steady_clock;

// The sum of a range as 64-bit words, read as eight streams side by side. The range holds a
// multiple of kStreams lines and starts on a line.
uint64_t sum_streams(std::span<const std::byte> range) {
  const size_t stream_bytes = range.size() / kStreams;
  Vector sums[2] = {};
  for (size_t at = 0; at < stream_bytes; at += kLine) {
    for (size_t stream = 0; stream < kStreams; ++stream) {
      const std::byte* place = range.data() + stream * stream_bytes + at;
      __builtin_prefetch(place + kPrefetchBytes);
      sums[stream % 2] += *reinterpret_cast<const Vector*>(place);
    }
  }
  const Vector sum = sums[0] + sums[1];
  uint64_t total = 0;
  for (size_t lane = 0; lane < kLine / sizeof(uint64_t); ++lane) total += sum[lane];
  return total;
}

// Runs `work(thread)` on each of n threads and waits for all.
template <typename Work>
void in_parallel(unsigned threads, const Work& work) {
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back([&work, i] { work(i); });
  work(0);
  for (std::thread& thread : others) thread.join();
}

uint64_t memory_to_use() {
  uint64_t available = memory_info().available;
  if (auto limit = cgroup_limits().memory) {
    const uint64_t used = resident_bytes();
    available = std::min(available, *limit > used ? *limit - used : 0);
  }
  return available / 4;
}

}  // namespace

ReadBandwidth measure_read_bandwidth(unsigned threads, double seconds) {
  ReadBandwidth result;
  result.threads = std::max(threads, 1u);
  const size_t step = result.threads * kStreams * size_t{4096};
  const size_t wanted = std::min<uint64_t>(kWantedBytes, memory_to_use());
  result.buffer_bytes = std::max(wanted / step, size_t{1}) * step;
  result.beyond_cache = result.buffer_bytes >= 2 * cpu_info().caches.l3;

  const LargeBuffer buffer(result.buffer_bytes);
  const size_t share = result.buffer_bytes / result.threads;
  auto share_of = [&](unsigned thread) { return buffer.bytes().subspan(thread * share, share); };
  // Each thread touches its share first, so that on a NUMA machine the pages are near it.
  in_parallel(result.threads,
              [&](unsigned thread) { std::memset(share_of(thread).data(), 1, share); });

  std::vector<double> times;
  std::atomic<uint64_t> sink{0};
  const Clock::time_point start = Clock::now();
  while (times.size() < 3 || seconds_since(start) < seconds) {
    const Clock::time_point pass = Clock::now();
    in_parallel(result.threads, [&](unsigned thread) { sink += sum_streams(share_of(thread)); });
    times.push_back(seconds_since(pass));
  }
  std::sort(times.begin(), times.end());
  const double gigabytes = static_cast<double>(result.buffer_bytes) / 1e9;
  result.passes = static_cast<unsigned>(times.size());
  result.best = gigabytes / times.front();
  result.median = gigabytes / times[times.size() / 2];
  return result;
}

}  // namespace luminal::base
