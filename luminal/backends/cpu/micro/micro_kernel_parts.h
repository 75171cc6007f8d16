// What the emitters of micro kernels share.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/micro/micro_kernel.h"
#include "luminal/backends/cpu/stage/emit_loops.h"
#include "luminal/backends/cpu/stage/emit_memory.h"

namespace luminal::backends::cpu {

// All that emit_micro_kernel is given.
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
  llvm::Value* tile_row_bytes;  // from one row of the tile to the next

  int lanes() const { return target.vector_bytes / 4; }
  llvm::IntegerType* element() const {  // of bf16 and i8, as bits
    return builder.getIntNTy(static_cast<unsigned>(8 * element_bytes(multiply)));
  }
  // The first `count` of n elements, n being a power of two up to 64, at `from`, zeros after them.
  llvm::Value* first_elements(llvm::Value* from, llvm::Value* count, int n) const;

  llvm::Value* i64(int64_t value) const { return builder.getInt64(static_cast<uint64_t>(value)); }
  // base + offset, in bytes.
  llvm::Value* at(llvm::Value* base, llvm::Value* offset) const {
    return builder.CreatePtrAdd(base, offset);
  }
  llvm::Value* times(llvm::Value* a, int64_t b) const { return builder.CreateNSWMul(a, i64(b)); }

  // Of a step in one panel.
  int64_t panel_step_bytes() const {
    return is_half(right.narrow) ? target.vector_bytes / 2 : target.vector_bytes;
  }

  // With few rows a kernel waits for memory: panels are read once, and asked for ahead.
  bool streams() const { return shape.rows <= (on_tiles(multiply) ? 16 : 8); }
  // Where in each panel to ask for what comes `kBytesAhead` after this offset. Past a panel's end
  // that is at the start of the panel which takes its place in the next call.
  llvm::Value* ahead(llvm::Value* offset) const {
    llvm::Value* later = builder.CreateNSWAdd(offset, i64(kBytesAhead));
    llvm::Value* next_call =
        builder.CreateNSWAdd(later, times(right.panel_bytes, shape.panels - 1));
    return builder.CreateSelect(builder.CreateICmpSLT(later, right.panel_bytes), later, next_call);
  }
  // Two threads that read 1 GiB of bf16 once, one row: without 42 GB/s, with 0.5, 1, 2 and 4 KiB
  // 44, 45, 45 and 43; eight rows: 35, and with 1, 2, 4 and 8 KiB 40, 41, 41 and 37.
  static constexpr int64_t kBytesAhead = 2048;
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
