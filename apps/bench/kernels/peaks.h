// Peaks: what this machine can do at the most, measured in the same run as the cases: a figure of
// another hour, or from a data sheet, says little of a machine that others use too.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/harness/progress.h"
#include "luminal/shape/dtype.h"

namespace luminal::bench {

// The faster of reading and of copying (bytes read and written both count).
struct Bandwidth {
  std::string where;  // "L1", "L2", "L3", "memory"
  int threads = 1;
  double holds = 0;  // bytes that all threads together may touch and stay there
  double gb_per_second = 0;
  std::string by = {};  // "read" or "copy"
};

// The fastest of the instructions that multiply and add this dtype; each counts two.
struct Compute {
  DType dtype = DType::F32;
  int threads = 1;
  double gflop_per_second = 0;
  std::string by = {};  // "amx-bf16"
};

struct Peaks {
  std::vector<Bandwidth> bandwidths;  // by threads, innermost level first
  std::vector<Compute> computes;

  // Of the innermost level that holds this many bytes.
  const Bandwidth& bandwidth_for(double working_set, int threads) const;
  const Compute& compute_for(DType dtype, int threads) const;
  // Of each figure the better one: a busy machine only ever takes away.
  void improve_by(const Peaks& again);
};

// About `seconds` for each figure. `progress` hears what is being measured.
Peaks measure_peaks(const std::vector<int>& threads, double seconds, const Progress& progress);

}  // namespace luminal::bench
