// Reducers on accumulators in registers, scalars and vectors alike.
//
// Floats accumulate in f32 or f64 and are rounded once by finish(). The order is fixed by the shape
// alone, so results don't depend on the number of threads.
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

  // The accumulator of nothing, for one lane or several.
  llvm::Value* start(int lanes);
  // One more value taken in; in lanes that `mask` leaves out nothing changes.
  llvm::Value* step(llvm::Value* so_far, llvm::Value* value, llvm::Value* mask);
  llvm::Value* combine(llvm::Value* a, llvm::Value* b);
  // The accumulator of one value alone.
  llvm::Value* taken(llvm::Value* value) { return uses_keys() ? to_key(value) : value; }
  // A scan across lanes: the accumulator at each lane, after `so_far`, which moves on past the
  // last.
  llvm::Value* prefix(llvm::Value*& so_far, llvm::Value* values, llvm::Value* mask);
  // Accumulators as one, pairwise, then its lanes as one, by halves.
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
