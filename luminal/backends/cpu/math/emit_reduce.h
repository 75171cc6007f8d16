// Reducers on accumulators in registers, both scalars and vectors.
//
// Floats accumulate in f32 or f64 and are rounded once, by finish(). The order depends only on the
// shape, so results don't depend on the number of threads.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "luminal/backends/cpu/math/emit_ops.h"

namespace luminal::backends::cpu {

class ReduceEmitter {
 public:
  ReduceEmitter(llvm::IRBuilder<>& builder, OpEmitter& ops, Reducer reducer, DType dtype)
      : builder_(builder), ops_(ops), reducer_(reducer), dtype_(dtype) {}

  // The identity of the reduction, for one lane or several.
  llvm::Value* start(int lanes);
  // Accumulates one more value; inactive lanes of `mask` don't change.
  llvm::Value* step(llvm::Value* so_far, llvm::Value* value, llvm::Value* mask);
  llvm::Value* combine(llvm::Value* a, llvm::Value* b);
  // The accumulator of a single value.
  llvm::Value* taken(llvm::Value* value) { return uses_keys() ? to_key(value) : value; }
  // An inclusive scan across lanes that starts with the carry `so_far`, which becomes that of the
  // next vector.
  llvm::Value* prefix(llvm::Value*& so_far, llvm::Value* values, llvm::Value* mask);
  // Combine accumulators pairwise into one, and the lanes of one by halving.
  llvm::Value* combine_all(std::vector<llvm::Value*> accumulators);
  llvm::Value* across_lanes(llvm::Value* accumulator);
  // The result, as a value of the dtype.
  llvm::Value* finish(llvm::Value* accumulator);

 private:
  bool uses_keys() const { return reducer_ == Reducer::Max && is_float(dtype_); }
  llvm::Value* to_key(llvm::Value* x);
  llvm::Value* from_key(llvm::Value* key);

  llvm::IRBuilder<>& builder_;
  OpEmitter& ops_;
  Reducer reducer_;
  DType dtype_;
};

}  // namespace luminal::backends::cpu
