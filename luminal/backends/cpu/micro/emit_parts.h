// Splits f32 values into sums of bf16 values, as LLVM IR.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/stage/emit_loops.h"

namespace luminal::backends::cpu {

// The number of terms. Three are exact. Two have a relative error of 2^-16, or of 2^-17 if the
// first one is rounded too, which takes longer. One keeps only the upper 16 bits.
struct Parts {
  int count = 3;
  bool rounds_first = false;
};

// Splits one or two vectors of f32. Each term is a vector of 16-bit words with the elements of all
// vectors. `values` become the remaining errors.
Values bf16_parts(Builder& builder, Values& values, Parts parts);

}  // namespace luminal::backends::cpu
