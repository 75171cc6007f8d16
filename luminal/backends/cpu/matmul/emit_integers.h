// What emitters of products with small integers share (see quantised_form.h), as LLVM IR.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/schedule/tiling.h"
#include "luminal/backends/cpu/stage/emit_stage.h"

namespace luminal::backends::cpu {

// Where the panel of a chunk's copy starts.
llvm::Value* integer_panel(EmitState& state, const TiledIntegers& integers, int copy);

// The elements of a panel that stand in one lane at `k`, as vectors of f32: one, or eight u4.
Values integer_elements(EmitState& state, const Target& target, const TiledIntegers& integers,
                        llvm::Value* panel, llvm::Value* k);

// What a stage without loops computes at the loops that are set: a vector of f32 for each copy of
// the chunk.
Values stage_vectors(EmitState& state, int stage);

}  // namespace luminal::backends::cpu
