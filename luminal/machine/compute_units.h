// Compute units: the instructions of this processor that multiply and add, and how fast they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "luminal/shape/dtype.h"

namespace luminal::machine {

struct ComputeUnit {
  std::string name;    // "fma-avx512", "amx-bf16"
  int64_t (*round)();  // some microseconds of it: how many operations those were
};

// Those that this processor and system have, of operands of this dtype. 16-bit floats may also be
// converted and computed in f32, so f32's count for them.
std::vector<ComputeUnit> compute_units(DType dtype);

// Additions of f32 in independent chains: what bounds element-wise kernels that compute much.
ComputeUnit elementwise_unit();

// Operations in a second, of all threads together; takes about `seconds`.
double measure_unit(const ComputeUnit& unit, int threads, double seconds);

}  // namespace luminal::machine
