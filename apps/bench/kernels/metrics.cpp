#include "apps/bench/kernels/metrics.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/bench/harness/statistics.h"

namespace luminal::bench {
namespace {

double share(double of, double peak) { return peak > 0 ? of / peak : 0; }

}  // namespace

std::string Measured::name() const { return fmt::format("{}/{}/t{}", of.name(), backend, threads); }

double gb_per_second(double bytes, double seconds) { return share(bytes * 1e-9, seconds); }

Metrics metrics_of(const Measured& measured, const Peaks& peaks) {
  Metrics metrics;
  metrics.median = median(measured.seconds);
  metrics.p10 = quantile(measured.seconds, 0.1);
  metrics.p90 = quantile(measured.seconds, 0.9);
  metrics.best = quantile(measured.seconds, 0);
  metrics.spread = share(metrics.p90 - metrics.p10, metrics.median);
  metrics.gb_per_second = gb_per_second(measured.bytes, metrics.median);
  metrics.gflop_per_second = share(measured.of.flops * 1e-9, metrics.median);
  const Bandwidth& memory = peaks.bandwidth_for(measured.working_set, measured.threads);
  metrics.fits = memory.where;
  metrics.mbu = share(metrics.gb_per_second, memory.gb_per_second);
  metrics.mfu = share(metrics.gflop_per_second,
                      peaks.compute_for(measured.of.dtype, measured.threads).gflop_per_second);
  metrics.roof = std::max(metrics.mbu, metrics.mfu);
  return metrics;
}

}  // namespace luminal::bench
