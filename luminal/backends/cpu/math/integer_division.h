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

// Toward zero, as ops.def has it: x / 0 is 0 and leaves x, the smallest / -1 wraps and leaves 0.
Quotient divide_truncating(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b,
                           bool is_signed);

// ⌊a / b⌋ and what it leaves, for index expressions; a zero divisor gives any value. `e_a`, `e_b`
// are the expressions behind the values: their bounds save work.
Quotient divide_floor(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b, Expr e_a,
                      Expr e_b);

}  // namespace luminal::backends::cpu
