// Divisions that never trap, on scalars and on vectors. x86 has no vector division of integers, so
// vectors divide as floats where that is exact.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "luminal/shape/expr.h"

namespace luminal::backends::cpu {

struct Quotient {
  llvm::Value* quotient;
  llvm::Value* remainder;
};

// Truncating, as ops.def specifies: x / 0 is 0 with remainder x; INT_MIN / -1 wraps, remainder 0.
Quotient divide_truncating(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b,
                           bool is_signed);

// ⌊a / b⌋ and its remainder, for index expressions; with a zero divisor the value is unspecified.
// `e_a` and `e_b` are the expressions of a and b, whose bounds allow cheaper code.
Quotient divide_floor(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b, Expr e_a,
                      Expr e_b);

}  // namespace luminal::backends::cpu
