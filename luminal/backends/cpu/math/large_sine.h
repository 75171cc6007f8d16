// The sine of f32 values too large for the usual range reduction.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace luminal::backends::cpu {

// Correct from this magnitude up to the largest float; ±inf and NaN give NaN. Lanes below it have
// unspecified values. Takes a float or a vector of floats.
inline constexpr double kLargeForSine = 0x1p17;
llvm::Value* sine_of_large(llvm::IRBuilder<>& builder, llvm::Value* x);

}  // namespace luminal::backends::cpu
