#include "apps/bench/kernels/peaks.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/bench/kernels/case.h"
#include "luminal/base/check.h"
#include "luminal/base/os/cpu.h"
#include "luminal/machine/compute_units.h"
#include "luminal/machine/streams.h"

namespace luminal::bench {
namespace {

// Used if the system doesn't report the sizes.
constexpr size_t kAssumedL1 = 32 << 10, kAssumedL2 = 512 << 10, kAssumedL3 = 16 << 20;
// Maximum buffer for L3: on many machines more cores than these share it.
constexpr size_t kMostL3Buffer = 24 << 20;

struct MemoryLevel {
  const char* where;
  double holds;   // bytes, over all threads
  size_t buffer;  // bytes per thread
};

std::vector<MemoryLevel> levels(int threads) {
  const base::CpuCaches& caches = base::cpu_info().caches;
  const size_t l1 = caches.l1_data != 0 ? caches.l1_data : kAssumedL1;
  const size_t l2 = caches.l2 != 0 ? caches.l2 : kAssumedL2;
  const size_t l3 = caches.l3 != 0 ? caches.l3 : kAssumedL3;
  const auto n = static_cast<size_t>(threads);
  return {{"L1", static_cast<double>(l1 * n), l1 / 2},
          {"L2", static_cast<double>(l2 * n), l2 / 2},
          {"L3", static_cast<double>(l3), std::min(l3 / 4, kMostL3Buffer) / n},
          {"memory", 0, machine::memory_buffer_bytes(l3) / n}};
}

}  // namespace

const Bandwidth& Peaks::bandwidth_for(double working_set, int threads) const {
  const Bandwidth* found = nullptr;
  for (const Bandwidth& bandwidth : bandwidths) {
    if (bandwidth.threads != threads) continue;
    found = &bandwidth;
    if (working_set <= bandwidth.holds) break;
  }
  LUMINAL_CHECK(found != nullptr, "no bandwidth was measured with this number of threads");
  return *found;
}

const Compute& Peaks::compute_for(DType dtype, int threads) const {
  for (const Compute& compute : computes) {
    if (compute.dtype == dtype && compute.threads == threads) return compute;
  }
  LUMINAL_CHECK(false, "no peak was measured for this dtype");
}

void Peaks::improve_by(const Peaks& again) {
  LUMINAL_CHECK(
      again.bandwidths.size() == bandwidths.size() && again.computes.size() == computes.size(),
      "peaks of other threads");
  for (size_t i = 0; i < bandwidths.size(); ++i) {
    if (again.bandwidths[i].gb_per_second > bandwidths[i].gb_per_second) {
      bandwidths[i] = again.bandwidths[i];
    }
  }
  for (size_t i = 0; i < computes.size(); ++i) {
    if (again.computes[i].gflop_per_second > computes[i].gflop_per_second) {
      computes[i] = again.computes[i];
    }
  }
}

Peaks measure_peaks(const std::vector<int>& threads, double seconds, const Progress& progress) {
  Peaks peaks;
  for (int count : threads) {
    for (const MemoryLevel& level : levels(count)) {
      progress({"peaks", fmt::format("bandwidth of {}, {} threads", level.where, count)});
      const machine::StreamRates rates = machine::measure_streams(level.buffer, count, seconds);
      const bool reads = rates.read >= rates.copy;
      peaks.bandwidths.push_back({.where = level.where,
                                  .threads = count,
                                  .holds = level.holds,
                                  .gb_per_second = std::max(rates.read, rates.copy),
                                  .by = reads ? "read" : "copy"});
    }
    for (DType dtype : kDTypes) {
      progress({"peaks", fmt::format("{} operations, {} threads", name(dtype), count)});
      Compute best{.dtype = dtype, .threads = count};
      for (const machine::ComputeUnit& unit : machine::compute_units(dtype)) {
        const double rate = machine::measure_unit(unit, count, seconds) * 1e-9;
        if (rate <= best.gflop_per_second) continue;
        best.gflop_per_second = rate;
        best.by = unit.name;
      }
      peaks.computes.push_back(best);
    }
  }
  return peaks;
}

}  // namespace luminal::bench
