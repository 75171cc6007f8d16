// PanelCopier: a factor of a matrix product, copied into panels of scratch memory, as LLVM IR.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/schedule/micro_shape.h"
#include "luminal/backends/cpu/stage/emit_stage.h"

namespace luminal::backends::cpu {

// What is copied: element (k, column) is what a stage without loops computes.
struct PanelSource {
  int stage;
  int column, k;  // loops
  Multiply multiply;
  int lanes;
  Expr panels, panel_pitch;  // offset in scratch memory and bytes of a panel
};

class PanelCopier {
 public:
  struct Range {
    llvm::Value *from, *to;
  };

  PanelCopier(EmitState& state, const PanelSource& source);

  // Columns from a multiple of the lanes on, k from whole words; the panel of column `first` is the
  // first one.
  void emit(Range columns, Range k, llvm::Value* first);

 private:
  void copy(Range k, Range columns);
  void copy_turned(int load, Range k, Range columns);
  int turned_load() const;
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
