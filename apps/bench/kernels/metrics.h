// Metrics: rates computed from a case's times, and how near the machine's peaks they are.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/kernels/case.h"
#include "apps/bench/kernels/peaks.h"

namespace luminal::bench {

// A measured case.
struct Measured {
  Case of;
  std::string backend = "cpu";
  int threads = 1;
  double bytes = 0;
  double working_set = 0;       // bytes of leaves and outputs
  int64_t kernels = 0;          // in its plan
  double model_seconds = 0;     // predicted by the cost model, on all threads
  double bound_seconds = 0;     // roofline bound of its peaks
  int64_t runs_per_sample = 1;  // short runs are timed several at once
  std::vector<double> seconds;  // per run, one per sample, in order

  std::string name() const;  // "softmax/l2/bf16/cpu/t2": unique in a report
};

struct Metrics {
  double median = 0, p10 = 0, p90 = 0, best = 0;   // seconds
  double spread = 0;                               // (p90 − p10) / median
  double gb_per_second = 0, gflop_per_second = 0;  // at the median; 10^9
  std::string fits;  // innermost level that holds its data: "L2", "memory"
  double mbu = 0;    // fraction of the bandwidth measured there
  double mfu = 0;    // fraction of the dtype's peak; 0 if the op has no flops
  // The roofline time over the median: max(mbu, mfu).
  double roof = 0;
};

Metrics metrics_of(const Measured& measured, const Peaks& peaks);

// A larger spread of samples says more about the machine than about the kernel.
inline constexpr double kBusySpread = 0.5;

// The rates of one sample.
double gb_per_second(double bytes, double seconds);

}  // namespace luminal::bench
