// The element-wise primitives on values in registers, scalars and vectors alike: ops.def as IR.
//
// In a register f16 and bf16 are held as f32 (already rounded to their dtype), bool as i1, u4 as
// i8.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "luminal/backends/cpu/math/vector_math.h"
#include "luminal/graph/op.h"
#include "luminal/kernel/ir/kernel.h"
#include "luminal/shape/dtype.h"

namespace luminal::backends::cpu {

// The type of one value of this dtype in a register.
llvm::Type* register_type(llvm::LLVMContext& context, DType dtype);

class OpEmitter {
 public:
  OpEmitter(llvm::IRBuilder<>& builder, const Target& target)
      : builder_(builder), target_(target), math_(builder, target) {}

  // Emits transcendental ops on f32 as calls from now on; see shared_math.h.
  void share_functions() { share_ = true; }

  // Emits one op: `from` is the dtype of the operands (for Select, of the last two), `to` that of
  // the result.
  llvm::Value* apply(Op op, DType from, DType to, llvm::ArrayRef<llvm::Value*> operands);
  llvm::Value* constant(DType dtype, const kernel::ConstInst& value);
  // An i64 as a value of `dtype`: integers wrap, bool is != 0, floats round.
  llvm::Value* from_index(DType dtype, llvm::Value* index);
  // Rounds a float that was computed in f32 or f64 to its dtype.
  llvm::Value* round(DType dtype, llvm::Value* x);
  // The 16 bits of an f16 or bf16 held as f32, and back.
  llvm::Value* to_half_bits(DType dtype, llvm::Value* x);
  llvm::Value* from_half_bits(DType dtype, llvm::Value* x);

 private:
  llvm::Value* transcendental(Op op, llvm::ArrayRef<llvm::Value*> in);
  llvm::Value* on_floats(Op op, llvm::ArrayRef<llvm::Value*> in);
  llvm::Value* on_integers(Op op, DType dtype, llvm::ArrayRef<llvm::Value*> in);
  llvm::Value* cast(DType from, DType to, llvm::Value* x);
  llvm::Value* float_to_int(DType to, llvm::Value* x);
  llvm::Value* int_to_float(DType from, DType to, llvm::Value* x);
  llvm::Value* resize(DType from, DType to, llvm::Value* x);
  llvm::Value* round_to_bf16(llvm::Value* x);
  llvm::Value* narrow_to_odd(llvm::Value* x);
  llvm::Value* bitcast(DType from, DType to, llvm::Value* x);

  llvm::IRBuilder<>& builder_;
  const Target& target_;
  VectorMath math_;
  bool share_ = false;
};

}  // namespace luminal::backends::cpu
