// QuantisedEmitter: a tile of a GEMV or small GEMM with a quantised right factor, which is never
// dequantised in memory (see quantised_form.h), as LLVM IR.
//
// Integers are converted on load. Each quantisation group of k has its own sums; scaled and offset,
// they are added to the tile.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/schedule/tiling.h"
#include "luminal/backends/cpu/stage/emit_stage.h"

namespace luminal::backends::cpu {

class QuantisedEmitter {
 public:
  // Rows of f32, contiguous along k, the first at `base`, `row_bytes` apart; and what prepare_rows
  // computed from them. Digits and units may be null.
  struct Rows {
    llvm::Value *base, *row_bytes, *count;
    llvm::Value *sums, *digits, *units;
  };
  struct Columns {
    llvm::Value *from, *to;
  };

  QuantisedEmitter(EmitState& state, const Target& target, const TiledContraction& contraction);

  // The rows from `row` on.
  Rows from_row(const Rows& rows, llvm::Value* row);
  // Computes for each row the sum of each quantisation group, which offsets are multiplied with;
  // and its int8 split, if it is multiplied in fixed point.
  void prepare_rows(const Rows& rows);
  // Computes the sums of a tile, row by row.
  void emit(const Rows& rows, const Columns& columns, llvm::Value* tile);

 private:
  void emit_sums(llvm::Value* row, llvm::Value* sums);
  void some_rows(const Rows& rows, int n, const Columns& columns, llvm::Value* tile);
  void part(const Rows& rows, int n, llvm::Value* number, const Values& panels, const Values& sums);
  Values multiply(const TiledIntegers& integers, const Rows& rows, int n, llvm::Value* k,
                  const Values& panels);
  Values multiply_in_fixed_point(const Rows& rows, int n, llvm::Value* number,
                                 const Values& panels);
  llvm::Value* of_part(llvm::Value* values, int row, llvm::Value* number);
  llvm::Value* multiply_add(llvm::Value* a, llvm::Value* b, llvm::Value* sum);

  llvm::Value* n_parts();
  int64_t digits_of_part() const;
  llvm::Value* i64(int64_t value);
  llvm::Value* at(llvm::Value* base, llvm::Value* bytes);
  llvm::Value* splat(llvm::Value* value);

  EmitState& state_;
  const Tiling& tiling_;
  const Target& target_;
  const TiledContraction& contraction_;
  const TiledQuantised& quantised_;
  Builder& builder_;
  IndexEmitter& index_;
  LoopEmitter& loops_;
  llvm::FixedVectorType* vector_;  // of f32
};

}  // namespace luminal::backends::cpu
