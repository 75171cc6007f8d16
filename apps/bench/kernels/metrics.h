// Metrics: what the times of a case say: rates, and how near the machine's peaks they are.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/kernels/case.h"
#include "apps/bench/kernels/peaks.h"

namespace luminal::bench {

// A case as it was run.
struct Measured {
  Case of;
  std::string backend = "cpu";
  int threads = 1;
  double bytes = 0;
  double working_set = 0;       // bytes: what a run touches, leaves and outputs
  int64_t kernels = 0;          // of its plan
  double model_seconds = 0;     // what the cost model expects of them, on all threads
  double bound_seconds = 0;     // and the roofline of its peaks
  int64_t runs_per_sample = 1;  // short runs are timed many at once
  std::vector<double> seconds;  // of a run, one per sample, in the order taken

  std::string name() const;  // "softmax/l2/bf16/cpu/t2": unique in a report
};

struct Metrics {
  double median = 0, p10 = 0, p90 = 0, best = 0;   // seconds
  double spread = 0;                               // (p90 − p10) / median
  double gb_per_second = 0, gflop_per_second = 0;  // at the median; 10^9
  std::string fits;                                // where its data fits: "L2", "memory"
  double mbu = 0;                                  // share of the bandwidth measured there
  double mfu = 0;  // share of the dtype's peak; 0 where the op has no flops
  // The time that both peaks together would allow, over the median: max(mbu, mfu).
  double roof = 0;
};

Metrics metrics_of(const Measured& measured, const Peaks& peaks);

// Samples that spread by more than this tell more of the machine than of the kernel.
inline constexpr double kBusySpread = 0.5;

// The rates of one sample.
double gb_per_second(double bytes, double seconds);

}  // namespace luminal::bench
