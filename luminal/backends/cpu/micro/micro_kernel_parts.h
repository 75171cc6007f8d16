// Shared by the emitters of micro kernels.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/micro/micro_kernel.h"
#include "luminal/backends/cpu/stage/emit_loops.h"
#include "luminal/backends/cpu/stage/emit_memory.h"

namespace luminal::backends::cpu {

// The arguments of emit_micro_kernel.
struct MicroKernel {
  Builder& builder;
  const Target& target;
  Multiply multiply;
  MicroShape shape;
  RowOperand left;
  PanelOperand right;
  llvm::Value* rows;
  llvm::Value* panels;
  llvm::Value* k_count;
  llvm::Value* tile;
  llvm::Value* adds;
  llvm::Value* tile_row_bytes;  // leading dimension of the tile

  int lanes() const { return target.vector_bytes / 4; }
  llvm::IntegerType* element() const {  // bf16 or i8 as an integer type
    return builder.getIntNTy(static_cast<unsigned>(8 * element_bytes(multiply)));
  }
  // Loads the first `count` of n elements at `from`, padded with zeros; n is a power of two ≤ 64.
  llvm::Value* first_elements(llvm::Value* from, llvm::Value* count, int n) const;

  llvm::Value* i64(int64_t value) const { return builder.getInt64(static_cast<uint64_t>(value)); }
  // base + offset, in bytes.
  llvm::Value* at(llvm::Value* base, llvm::Value* offset) const {
    return builder.CreatePtrAdd(base, offset);
  }
  llvm::Value* times(llvm::Value* a, int64_t b) const { return builder.CreateNSWMul(a, i64(b)); }

  // Bytes that one step reads from one panel.
  int64_t panel_step_bytes() const {
    return is_half(right.narrow) ? target.vector_bytes / 2 : target.vector_bytes;
  }

  // With few rows (GEMV) a kernel is memory-bound: panels are read once, and prefetched. Vectors
  // prefetch panels in memory for any number of rows: their first tile of rows reads them.
  bool streams() const {
    return right.prefetch_bytes > 0 && shape.rows <= (on_tiles(multiply) ? 16 : 8);
  }
  // The offset in each panel to prefetch: prefetch_bytes after `offset`. Past a panel's end it
  // continues at the start of the panel that the next call reads in its place.
  llvm::Value* ahead(llvm::Value* offset) const {
    llvm::Value* later = builder.CreateNSWAdd(offset, i64(right.prefetch_bytes));
    llvm::Value* next_call =
        builder.CreateNSWAdd(later, times(right.panel_bytes, shape.panels - 1));
    return builder.CreateSelect(builder.CreateICmpSLT(later, right.panel_bytes), later, next_call);
  }
};

// if (condition) yes(); else no();
inline void branch(LoopEmitter& loops, llvm::Value* condition, const std::function<void()>& yes,
                   const std::function<void()>& no) {
  auto without_values = [](const std::function<void()>& body) {
    return [&body] {
      body();
      return Values();
    };
  };
  loops.either(condition, without_values(yes), without_values(no));
}

void emit_vector_micro_kernel(const MicroKernel& kernel);
void emit_tiles_micro_kernel(const MicroKernel& kernel);

void emit_tiles_setup(Builder& builder, MicroShape shape);
void emit_tiles_release(Builder& builder);

}  // namespace luminal::backends::cpu
