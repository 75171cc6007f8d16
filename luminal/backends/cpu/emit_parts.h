// Numbers of f32 as sums of numbers of bf16, as LLVM IR.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/emit_loops.h"

namespace luminal::backends::cpu {

// One or two vectors of f32 as so many parts, each a vector of 16-bit words with the elements of
// all. Their sum is the number: three parts leave nothing, of two the last is rounded, one is the
// upper half of a number that has no other.
Values bf16_parts(Builder& builder, Values values, int parts);

}  // namespace luminal::backends::cpu
