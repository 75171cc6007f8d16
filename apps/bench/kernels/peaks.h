// Peaks: the machine's maximum rates, measured in the same run as the cases: figures from another
// hour or a data sheet say little about a shared machine.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/harness/progress.h"
#include "luminal/shape/dtype.h"

namespace luminal::bench {

// The faster of reading and copying (bytes read and written both count).
struct Bandwidth {
  std::string where;  // "L1", "L2", "L3", "memory"
  int threads = 1;
  double holds = 0;  // bytes that all threads together may touch and stay in this level
  double gb_per_second = 0;
  std::string by = {};  // "read" or "copy"
};

// The fastest multiply-add instruction of this dtype; each counts two flops.
struct Compute {
  DType dtype = DType::F32;
  int threads = 1;
  double gflop_per_second = 0;
  std::string by = {};  // "amx-bf16"
};

struct Peaks {
  std::vector<Bandwidth> bandwidths;  // by threads, innermost level first
  std::vector<Compute> computes;

  // The bandwidth of the innermost level that holds this many bytes.
  const Bandwidth& bandwidth_for(double working_set, int threads) const;
  const Compute& compute_for(DType dtype, int threads) const;
  // Takes the better of each figure: a busy machine can only reduce it.
  void improve_by(const Peaks& again);
};

// About `seconds` per figure. `progress` is told the current measurement.
Peaks measure_peaks(const std::vector<int>& threads, double seconds, const Progress& progress);

}  // namespace luminal::bench
