// IntegerTilesEmitter: many rows by a right factor that is made of small integers (see
// quantised_form.h), on AMX tiles, as LLVM IR.
//
// Integers of 8 bits are bf16 without error, and a number of f32 is the sum of three of bf16, or of
// two but for 2^-17 of it. Tiles multiply those exactly. Each stretch of k that has a slope of its
// own is summed in a tile; from there slope · Σ integer · x + offset · Σ x goes into the sums of as
// many results, which are in registers.
//
// What a tile is loaded from lies in scratch memory in one piece, kTilePiece bytes. The block's
// columns become bf16 as far along k as stays in a near cache, for all rows of the block.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/matmul/emit_quantised.h"

namespace luminal::backends::cpu {

class IntegerTilesEmitter {
 public:
  IntegerTilesEmitter(EmitState& state, const Target& target, const TiledContraction& contraction);

  // The parts that rows are the sums of, and the sums of each stretch of those.
  void prepare_rows(const QuantisedEmitter::Rows& rows);
  // The sums of a block, whose first row is the first of `rows`.
  void emit(const QuantisedEmitter::Rows& rows, const QuantisedEmitter::Columns& columns);

 private:
  // Of k.
  struct Range {
    llvm::Value *from, *to;
  };
  // Results that are summed at once: from a row of the block on, at the chunk's columns.
  struct Tile {
    llvm::Value* row;
    llvm::Value* panel;     // where the integers are as bf16
    llvm::Value* row_sums;  // of the tile's first row, by stretch of k
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
  const int64_t n_stretches_;      // of k
  const int64_t steps_;            // of a tile's length in a stretch of k
  const int at_once_;              // stretches
  llvm::FixedVectorType* vector_;  // of f32
};

}  // namespace luminal::backends::cpu
