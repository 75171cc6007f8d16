// Shared by the emitters of quantised products (see quantised_form.h), as LLVM IR.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/schedule/tiling.h"
#include "luminal/backends/cpu/stage/emit_stage.h"

namespace luminal::backends::cpu {

// The address of the panel of one copy of the chunk.
llvm::Value* integer_panel(EmitState& state, const TiledIntegers& integers, int copy);

// The elements of a panel that one lane holds at `k`, as vectors of f32: integers.depth of them.
Values integer_elements(EmitState& state, const Target& target, const TiledIntegers& integers,
                        llvm::Value* panel, llvm::Value* k);

// The result of a stage without loops at the current loop indices: a vector of f32 per copy of the
// chunk.
Values stage_vectors(EmitState& state, kernel::StageId stage);

}  // namespace luminal::backends::cpu
