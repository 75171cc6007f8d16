// Compute units: the instructions of this processor that multiply and add, and how fast they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "luminal/shape/dtype.h"

namespace luminal::machine {

struct ComputeUnit {
  std::string name;    // "fma-avx512", "amx-bf16"
  int64_t (*round)();  // runs for some microseconds; returns the number of operations
};

// The units available here for operands of this dtype. For 16-bit floats they include those of f32,
// since values may be converted and computed in f32.
std::vector<ComputeUnit> compute_units(DType dtype);

// Independent chains of f32 additions: the limit of compute-bound element-wise kernels.
ComputeUnit elementwise_unit();

// Operations per second of all threads together; takes about `seconds`.
double measure_unit(const ComputeUnit& unit, int threads, double seconds);

}  // namespace luminal::machine
