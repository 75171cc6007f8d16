// RowBlockEmitter: flash-attention blocking as LLVM IR; see row_blocks.h.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/stage/emit_stage.h"

namespace luminal::backends::cpu {

class RowBlockEmitter {
 public:
  RowBlockEmitter(EmitState& state, const Target& target);

  // The blocks first … last − 1.
  void emit(llvm::Value* first, llvm::Value* last);

 private:
  struct Block {
    llvm::Value *row, *last_row;
  };

  Block find_block(llvm::Value* number, llvm::Value*& row_block);
  void copy_panels();
  llvm::Value* at_row(Expr e, llvm::Value* row);
  llvm::Value* least(const kernel::MaskedRange::Bound& bound, const Block& rows);
  llvm::Value* greatest(const kernel::MaskedRange::Bound& bound, const Block& rows);
  EmitState::Range counting(const Block& rows);
  void find_range(const Block& block);
  void emit_block(const Block& block);
  void for_each_row(const Block& block, const std::function<void(llvm::Value* row)>& body);
  void emit_row_steps(const Block& block, size_t from, size_t to, bool contractions);
  void copy_rows(const BlockedContraction& contraction, const Block& block, EmitState::Range k);
  void store_parts(const BlockedContraction& contraction, Values values, llvm::Value* at);
  void emit_contraction(const BlockedContraction& contraction, const Block& block);
  void emit_sum(const BlockedContraction& contraction, const Block& block, llvm::Value* row,
                llvm::Value* column, llvm::Value* k);

  Expr index_of(kernel::LoopId loop) const;
  EmitState::Range range(kernel::LoopId loop);
  llvm::Value* extent(kernel::LoopId loop);
  llvm::Value* in_scratch(llvm::Value* offset);
  llvm::Value* buffer(kernel::StageId stage, llvm::Value* row);
  llvm::Value* i64(int64_t value);
  llvm::Value* smallest(llvm::Value* a, llvm::Value* b);
  llvm::Value* largest(llvm::Value* a, llvm::Value* b);

  EmitState& state_;
  const RowBlocks& blocks_;
  const Target& target_;
  Builder& builder_;
  IndexEmitter& index_;
  LoopEmitter& loops_;
};

}  // namespace luminal::backends::cpu
