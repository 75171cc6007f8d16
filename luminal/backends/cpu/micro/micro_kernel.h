// Micro kernels: a small tile of a matrix product, summed over all of k in registers.
//
// The left operand is read in place, row by row; the right one comes in panels, each as wide as one
// vector of f32 and in the order in which it is read.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/schedule/micro_shape.h"
#include "luminal/backends/cpu/stage/emit_index.h"

namespace luminal::backends::cpu {

// Element (r, k) of the left operand is at base + r · row_bytes + k · k_bytes. All are i64 but the
// base; F32 takes any strides, the others elements that follow each other: k_bytes is their size.
// On tiles of up to two panels an element may be a sum of parts, each part_bytes after the one
// before: what they are multiplied with is read once for all.
struct RowOperand {
  llvm::Value* base;
  llvm::Value* row_bytes;
  llvm::Value* k_bytes;
  int parts = 1;
  llvm::Value* part_bytes = nullptr;
};

// Panel p of the right operand is at base + p · panel_bytes. In it one vector follows another, each
// with the lanes' next elements: 1 f32, 2 bf16 or 4 i8. Past the end of k the last ones are zeros.
// F32 also takes one f16 or bf16 per lane, and widens it on the way.
struct PanelOperand {
  llvm::Value* base;
  llvm::Value* panel_bytes;
  DType narrow = DType::F32;  // for F32: what the panels hold
  // Tiles of many rows ask on their way for what is read after them, from as many panels: each call
  // for a part, the first of `parts` from `base` on, of what each step along k reads later.
  struct Next {
    llvm::Value* base = nullptr;  // null: for nothing
    llvm::Value* panel_bytes = nullptr;
    int64_t bytes_of_step = 0;
    int parts = 1;
  };
  Next next = {};
};

// What surrounds the micro kernels of a function, all of one kind and shape: AMX gives its tiles
// their sizes first, which takes as long as four steps of a kernel, and takes them back at the end.
void emit_micro_kernel_setup(Builder& builder, const Target& target, Multiply multiply,
                             MicroShape shape);
void emit_micro_kernel_release(Builder& builder, Multiply multiply);

// Sums over k in [0, k_count) and leaves element (r, p, lane) of the result, 4 bytes, at
// tile + ((r · shape.panels + p) · lanes + lane) · 4 for r < rows and p < panels, both at least 1
// and at most the shape's. The tile is aligned to 64. No other byte of the tile is written, and of
// the operands only elements of these rows, panels and k are read. Without k all are zeros.
//
// Where `adds` (i1) holds, sums start with what the tile has: k may be cut into parts so that an
// operand stays in a near cache. Null: they start at zero.
//
// With `row_bytes`, a multiple of 64, rows of the tile are that far apart.
void emit_micro_kernel(Builder& builder, const Target& target, Multiply multiply, MicroShape shape,
                       const RowOperand& left, const PanelOperand& right, llvm::Value* rows,
                       llvm::Value* panels, llvm::Value* k_count, llvm::Value* tile,
                       llvm::Value* adds = nullptr, llvm::Value* row_bytes = nullptr);

}  // namespace luminal::backends::cpu
