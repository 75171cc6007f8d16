// IntegerTilesEmitter: GEMM of many f32 rows by a quantised right factor (see quantised_form.h) on
// AMX, as LLVM IR.
//
// 8-bit integers are exact in bf16, and an f32 is the sum of three bf16 terms, or of two with a
// relative error of 2^-17. AMX products of these are exact. Each quantisation group of k is summed
// in a tile; then scale · Σ integer · x + offset · Σ x is added to the results, which are in
// registers.
//
// The data of a tile is contiguous in scratch memory, kTilePiece bytes. The block's columns are
// converted to bf16 for kPanelDepth of k at a time, which stays in the cache for all rows.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/matmul/emit_quantised.h"

namespace luminal::backends::cpu {

class IntegerTilesEmitter {
 public:
  IntegerTilesEmitter(EmitState& state, const Target& target, const TiledContraction& contraction);

  // Splits rows into bf16 terms, and computes the row sums of each group.
  void prepare_rows(const QuantisedEmitter::Rows& rows);
  // Computes the sums of a block, whose first row is the first of `rows`.
  void emit(const QuantisedEmitter::Rows& rows, const QuantisedEmitter::Columns& columns);

 private:
  // A range of k.
  struct Range {
    llvm::Value *from, *to;
  };
  // The 16 × 16 results computed at once: rows of the block from `row` on, the chunk's columns.
  struct Tile {
    llvm::Value* row;
    llvm::Value* panel;     // address of the integers as bf16
    llvm::Value* row_sums;  // of the tile's first row, by quantisation group
  };

  Values row_values(llvm::Value* from);
  LoopEmitter::VectorLoop columns_of(const QuantisedEmitter::Columns& columns);
  void make_panels(const QuantisedEmitter::Columns& columns, const Range& k);
  void sum_tile(const QuantisedEmitter::Rows& rows, const QuantisedEmitter::Columns& columns,
                llvm::Value* row, const Range& k);
  Values add_stretches(const Tile& tile, const Range& k, llvm::Value* first, int n, Values sums);
  void multiply(const Tile& tile, const Range& k, llvm::Value* first, int n);
  Values scaled(const Tile& tile, llvm::Value* stretch, int n, Values sums);

  llvm::Value* panel_at(llvm::Value* column, const QuantisedEmitter::Columns& columns);
  llvm::Value* column();
  llvm::Value* in_scratch(Expr offset, llvm::Value* more);
  llvm::Value* piece(llvm::Value* base, llvm::Value* number);
  llvm::Value* at(llvm::Value* base, llvm::Value* bytes);
  llvm::Value* i64(int64_t value);
  llvm::Value* times(llvm::Value* a, int64_t b);
  llvm::Value* multiply_add(llvm::Value* a, llvm::Value* b, llvm::Value* sum);
  void on_tile(llvm::Intrinsic::ID id, int tile, llvm::ArrayRef<llvm::Value*> more);

  EmitState& state_;
  const Tiling& tiling_;
  const Target& target_;
  const TiledContraction& contraction_;
  const TiledQuantised& quantised_;
  Builder& builder_;
  IndexEmitter& index_;
  LoopEmitter& loops_;
  const int64_t length_;           // of k
  const int64_t n_stretches_;      // quantisation groups along k
  const int64_t steps_;            // tiles along k per group
  const int at_once_;              // groups computed at once
  llvm::FixedVectorType* vector_;  // of f32
};

}  // namespace luminal::backends::cpu
