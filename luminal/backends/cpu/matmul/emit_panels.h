// PanelCopier: packs a right factor of a GEMM into panels in scratch memory, as LLVM IR.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/schedule/micro_shape.h"
#include "luminal/backends/cpu/stage/emit_stage.h"

namespace luminal::backends::cpu {

// The source: element (k, column) is the result of a stage without loops.
struct PanelSource {
  kernel::StageId stage;
  kernel::LoopId column, k;
  Multiply multiply;
  int lanes;
  Expr panels, panel_pitch;  // offset in scratch memory, and bytes per panel
};

class PanelCopier {
 public:
  struct Range {
    llvm::Value *from, *to;
  };

  PanelCopier(EmitState& state, const PanelSource& source);

  // Columns must start at a multiple of the lanes, k at a whole word. The first panel is that of
  // column `first`.
  void emit(Range columns, Range k, llvm::Value* first);

 private:
  void copy(Range k, Range columns);
  void copy_turned(kernel::InstId load, Range k, Range columns);
  kernel::InstId turned_load() const;
  llvm::Value* in_panels(llvm::Value* column, llvm::Value* k);
  llvm::Value* i64(int64_t value);

  EmitState& state_;
  const PanelSource& source_;
  Builder& builder_;
  IndexEmitter& index_;
  LoopEmitter& loops_;
  const int per_lane_;
  llvm::Value* first_ = nullptr;  // column of the first panel
};

}  // namespace luminal::backends::cpu
