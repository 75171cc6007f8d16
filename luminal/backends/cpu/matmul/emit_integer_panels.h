// IntegerPanelsEmitter: panels of bf16 from the small integers that a right factor is made of (see
// quantised_form.h), as LLVM IR.
//
// Where a graph rounds such a factor to bf16, many rows multiply it on tiles as they do any other
// of bf16. It is made a block of columns and of k at a time, which stays in a near cache for all
// rows.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/matmul/emit_quantised.h"

namespace luminal::backends::cpu {

class IntegerPanelsEmitter {
 public:
  IntegerPanelsEmitter(EmitState& state, const Target& target, const TiledContraction& contraction);

  // The columns from k to `end`: one panel after the other from `to` on, `pitch` bytes apart.
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
  const int64_t at_once_;     // elements along k with the same slopes
  const int64_t bytes_of_k_;  // of a panel that is made
  llvm::FixedVectorType* vector_;
};

}  // namespace luminal::backends::cpu
