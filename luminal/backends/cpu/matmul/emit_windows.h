// WindowCopier: copies what the windows of a block see, with its padding, as LLVM IR; see
// windows.h.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/micro/micro_kernel.h"
#include "luminal/backends/cpu/stage/emit_stage.h"

namespace luminal::backends::cpu {

class WindowCopier {
 public:
  WindowCopier(EmitState& state, const Tiling& tiling, const TiledContraction& contraction);

  // All channels of the lines `first` … `first` + `count` − 1.
  void emit(llvm::Value* first, llvm::Value* count);

 private:
  void copy_line(llvm::Value* channel, const TiledWindows::Plane& plane, llvm::Value* line);

  EmitState& state_;
  const Tiling& tiling_;
  const TiledContraction& contraction_;
  Builder& builder_;
  IndexEmitter& index_;
  LoopEmitter& loops_;
};

// The copy as the right operand of a tile, from position `position` and element `k` on; both i64, k
// a multiple of the elements of a channel.
PanelOperand window_operand(EmitState& state, const Tiling& tiling,
                            const TiledContraction& contraction, llvm::Value* position,
                            llvm::Value* k);

}  // namespace luminal::backends::cpu
