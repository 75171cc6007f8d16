// IntegerPanelsEmitter: dequantises a right factor (see quantised_form.h) into bf16 panels, as LLVM
// IR.
//
// If a graph rounds such a factor to bf16, a GEMM of many rows multiplies it on AMX like any other
// bf16 factor. It is dequantised block by block of columns and k; a block stays in the L2 cache for
// all rows.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/matmul/emit_quantised.h"

namespace luminal::backends::cpu {

class IntegerPanelsEmitter {
 public:
  IntegerPanelsEmitter(EmitState& state, const Target& target, const TiledContraction& contraction);

  // Dequantises the columns over a range of k: one panel after the other from `to` on, `pitch`
  // bytes apart.
  struct Range {
    llvm::Value *from, *end;
  };
  void emit(const QuantisedEmitter::Columns& columns, const Range& k, llvm::Value* to,
            llvm::Value* pitch);

 private:
  Values elements(const Values& panels, llvm::Value* k);
  void store(const Values& elements, llvm::Value* to);
  llvm::Value* pairs(llvm::Value* first, llvm::Value* second);
  llvm::Value* i64(int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); }

  EmitState& state_;
  const Tiling& tiling_;
  const Target& target_;
  const TiledContraction& contraction_;
  const TiledQuantised& factor_;
  Builder& builder_;
  IndexEmitter& index_;
  LoopEmitter& loops_;
  const int64_t at_once_;     // elements along k with the same scales
  const int64_t bytes_of_k_;  // bytes per k of a bf16 panel
  llvm::FixedVectorType* vector_;
};

}  // namespace luminal::backends::cpu
