#include "luminal/machine/measure_peaks.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "luminal/base/errors.h"
#include "luminal/base/os/company.h"
#include "luminal/base/os/limits.h"
#include "luminal/base/seconds_since.h"
#include "luminal/machine/compute_units.h"
#include "luminal/machine/kept_peaks.h"
#include "luminal/machine/streams.h"
#include "luminal/runtime/thread_pool.h"

namespace luminal::machine {
namespace {

constexpr double kStreamSeconds = 0.2, kCacheSeconds = 0.05, kUnitSeconds = 0.1;
constexpr uint64_t kMostL3Buffer = 24 << 20;  // other cores share it
constexpr int kLaunches = 2000;
constexpr double kShareSeconds = 10e-6;  // long enough for a helper to wake up
constexpr double kLongUs = 1e6;          // an estimate so high that helpers are always woken

using Clock = std::chrono::steady_clock;

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[16];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d", &parts)};
}

double best_unit(DType dtype, int threads) {
  double best = 0;
  for (const ComputeUnit& unit : compute_units(dtype)) {
    best = std::max(best, measure_unit(unit, threads, kUnitSeconds));
  }
  return best;
}

double cached_bytes(uint64_t buffer, int threads) {
  const StreamRates rates = measure_streams(buffer, threads, kCacheSeconds);
  return std::max(rates.read, rates.copy) * 1e9;
}

// The median overhead of a launch beyond the time of its shares.
double launch_seconds(int shares) {
  const double share_seconds = shares == 1 ? 0 : kShareSeconds;
  std::vector<double> times;
  times.reserve(kLaunches);
  for (int i = 0; i < kLaunches; ++i) {
    const Clock::time_point start = Clock::now();
    runtime::run_shares(shares, kLongUs, [&](int) {
      const Clock::time_point begun = Clock::now();
      while (base::seconds_since(begun) < share_seconds) {
      }
    });
    times.push_back(base::seconds_since(start) - share_seconds);
  }
  std::ranges::nth_element(times, times.begin() + kLaunches / 2);
  return times[kLaunches / 2];
}

}  // namespace

Peaks measure_peaks(int threads) {
  base::Company company;
  company.cores();  // the load is averaged from here on
  Peaks peaks = default_peaks(instruction_set_here(), threads);
  peaks.origin = PeaksOrigin::Measured;
  peaks.source = today();
  for (Bandwidth& bandwidth : peaks.memory) {
    const size_t bytes = memory_buffer_bytes(peaks.l3) / static_cast<size_t>(bandwidth.threads);
    const StreamRates rates = measure_streams(bytes, bandwidth.threads, kStreamSeconds);
    bandwidth.read = rates.read * 1e9;
    bandwidth.copy = rates.copy * 1e9;
  }
  peaks.l2_bytes = cached_bytes(peaks.l2 / 2, threads);
  peaks.l3_bytes =
      cached_bytes(std::min(peaks.l3 / 4, kMostL3Buffer) / static_cast<uint64_t>(threads), threads);
  peaks.elementwise = measure_unit(elementwise_unit(), threads, kUnitSeconds);
  peaks.f32_products = best_unit(DType::F32, threads);
  peaks.bf16_products = std::max(best_unit(DType::BF16, threads), peaks.f32_products);
  peaks.i8_products = best_unit(DType::I8, threads);
  // At least the default, since a kernel also sets up its sizes and pointers.
  peaks.launch_seconds = std::max(launch_seconds(1), peaks.launch_seconds);
  peaks.barrier_seconds = std::max(launch_seconds(threads), 1e-9);
  peaks.others = company.cores();
  return peaks;
}

const Peaks& measured_peaks() {
  static const Peaks peaks = [] {
    const auto threads = static_cast<int>(base::usable_threads());
    if (std::optional<Peaks> kept = read_kept_peaks(threads)) return *std::move(kept);
    Peaks measured = measure_peaks(threads);
    if (measured.others > kMostOthers) return measured;
    try {
      keep(measured);
    } catch (const UserError&) {
      // Can't be cached: the next process measures again.
    }
    return measured;
  }();
  return peaks;
}

}  // namespace luminal::machine
