// SharedRowsEmitter: a contraction of several rows that share a factor, as LLVM IR; see
// shared_rows.h.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/stage/emit_stage.h"

namespace luminal::backends::cpu {

class SharedRowsEmitter {
 public:
  SharedRowsEmitter(EmitState& state, const SharedRows& shared);

  void emit();

 private:
  void emit_along_k();
  void emit_along_columns();
  // Computes and stores the sums of all rows at `count` columns from `column` on.
  void emit_columns(const std::vector<Values>& left, llvm::Value* column, int count);

  // Calls `body` with the row loops set to the indices of row number `row`.
  void at_row(int row, const std::function<void()>& body);
  void at_vectors(kernel::LoopId loop, llvm::Value* from, int count,
                  const std::function<void()>& body);
  void at_column(llvm::Value* column, const std::function<void()>& body);
  Values factor(kernel::StageId stage, int copies);
  Values sums_of(Values vectors);

  EmitState& state_;
  const SharedRows& shared_;
  const ScheduledStage& stage_;
  Builder& builder_;
  IndexEmitter& index_;
  int lanes_;
  int n_rows_ = 1;
};

}  // namespace luminal::backends::cpu
