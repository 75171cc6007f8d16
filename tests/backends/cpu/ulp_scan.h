// How far an element-wise kernel is from the exact value, over many floats.
#pragma once

#include <cstdint>
#include <functional>

#include "luminal/graph/op.h"
#include "luminal/kernel/ir/kernel.h"

namespace luminal::backends::cpu {

// y = op(x…) over n elements.
kernel::Kernel pointwise(Op op, int n_inputs, DType dtype);

// Runs it on vectors of n elements, compiled for target `jit` of test_jits().
void run_pointwise(size_t jit, const kernel::Kernel& kernel, std::vector<const void*> params,
                   int64_t n);

struct Worst {
  double ulps = 0;
  float at = 0;
};

// The largest error of the op over the floats whose bits are bits_of(0) … bits_of(count − 1), on
// all cores. NaN, infinities and the sign of zero must match outright, and every target must give
// the same bits: what doesn't is a test failure.
Worst worst_error(Op op, double (*exact)(double), uint64_t count,
                  const std::function<uint32_t(uint64_t)>& bits_of);

}  // namespace luminal::backends::cpu
