// Micro kernels: a small tile of a GEMM, summed over k in registers.
//
// The left operand is read in place, row by row; the right one as packed B panels, each as wide as
// one vector of f32 and stored in the order in which it is read.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/schedule/micro_shape.h"
#include "luminal/backends/cpu/stage/emit_index.h"

namespace luminal::backends::cpu {

// Element (r, k) of the left operand is at base + r · row_bytes + k · k_bytes. Strides are i64. F32
// takes any strides; the others need elements contiguous along k. On AMX with up to two panels an
// element may be the sum of several bf16 terms, stored part_bytes apart: the right operand is then
// read once for all of them.
struct RowOperand {
  llvm::Value* base;
  llvm::Value* row_bytes;
  llvm::Value* k_bytes;
  int parts = 1;
  llvm::Value* part_bytes = nullptr;
};

// Panel p of the right operand is at base + p · panel_bytes. It is a sequence of vectors, each with
// the next elements of every lane: 1 f32, 2 bf16 or 4 i8, padded with zeros at the end of k. F32
// also takes one f16 or bf16 per lane, widened on load.
struct PanelOperand {
  llvm::Value* base;
  llvm::Value* panel_bytes;
  DType narrow = DType::F32;                  // for F32: what the panels hold
  int64_t prefetch_bytes = kPanelBytesAhead;  // with few rows; 0: panels are in a cache
  // AMX kernels with many rows prefetch the panels that are read next, as many as they read. Each
  // call prefetches 1 / `parts` of them, starting at `base`, spread over its steps along k.
  struct Next {
    llvm::Value* base = nullptr;  // null: no prefetch
    llvm::Value* panel_bytes = nullptr;
    int64_t bytes_of_step = 0;
    int parts = 1;
  };
  Next next = {};
  // For F32: panels are vectors of a copied image (windows.h) instead. Element k is at
  // base + k div n · channel_bytes + offsets[k mod n], n the number of offsets, and p · panel_bytes
  // further. The number of elements along k is a multiple of n.
  struct Windows {
    std::vector<int64_t> offsets;  // in bytes
    int64_t channel_bytes = 0;
  };
  Windows windows = {};
};

// Emitted once around the micro kernels of a function, which all have one kind and shape: on AMX,
// configures the tiles, which takes as long as four steps of a kernel, and releases them.
void emit_micro_kernel_setup(Builder& builder, const Target& target, Multiply multiply,
                             MicroShape shape);
void emit_micro_kernel_release(Builder& builder, Multiply multiply);

// An attribute of functions that hold micro kernels, for the code generator.
inline constexpr const char* kHasMicroKernels = "luminal-micro-kernels";

// Sums over k in [0, k_count) and stores element (r, p, lane) of the result, 4 bytes, at
// tile + ((r · shape.panels + p) · lanes + lane) · 4 for r < rows and p < panels, both at least 1
// and at most the shape's. The tile is aligned to 64. No other byte of the tile is written, and of
// the operands only elements of these rows, panels and k are read. If k_count is 0, all are zeros.
//
// If `adds` (i1) is true, the results are added to the tile, so that k can be blocked for the
// caches. If it is false or null, sums start at zero.
//
// `row_bytes`, a multiple of 64, is the leading dimension of the tile if it isn't dense.
void emit_micro_kernel(Builder& builder, const Target& target, Multiply multiply, MicroShape shape,
                       const RowOperand& left, const PanelOperand& right, llvm::Value* rows,
                       llvm::Value* panels, llvm::Value* k_count, llvm::Value* tile,
                       llvm::Value* adds = nullptr, llvm::Value* row_bytes = nullptr);

}  // namespace luminal::backends::cpu
