// Numbers of f32 as sums of numbers of bf16, as LLVM IR.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/stage/emit_loops.h"

namespace luminal::backends::cpu {

// How many, and how much is left out: nothing by three; by two 2^-16 of a number, or 2^-17 where
// the first one is rounded too, which takes longer; by one all but the upper half.
struct Parts {
  int count = 3;
  bool rounds_first = false;
};

// One or two vectors of f32 in parts, each a vector of 16-bit words with the elements of all. The
// values become what is left out of them.
Values bf16_parts(Builder& builder, Values& values, Parts parts);

}  // namespace luminal::backends::cpu
