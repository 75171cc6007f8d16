// The sine of f32 values that are too large to subtract multiples of π from.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace luminal::backends::cpu {

// From this size on it is right, up to the largest float; ±inf and NaN give NaN, and lanes below it
// any value. A float or a vector of floats.
inline constexpr double kLargeForSine = 0x1p17;
llvm::Value* sine_of_large(llvm::IRBuilder<>& builder, llvm::Value* x);

}  // namespace luminal::backends::cpu
