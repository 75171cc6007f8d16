// TileEmitter: a GEMM, block by block, as LLVM IR; see tiling.h.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/matmul/emit_quantised.h"
#include "luminal/backends/cpu/micro/micro_kernel.h"
#include "luminal/backends/cpu/stage/emit_stage.h"

namespace luminal::backends::cpu {

class TileEmitter {
 public:
  TileEmitter(EmitState& state, const Target& target);

  // The blocks first … last − 1.
  void emit(llvm::Value* first, llvm::Value* last);

 private:
  // The rows and columns of a block.
  struct Block {
    llvm::Value *row, *last_row;
    llvm::Value *column, *last_column;
    llvm::Value *of_rows, *of_columns;  // number of the block along rows and columns
    // Of windows: the first line and how many. Columns are positions in these.
    llvm::Value *line = nullptr, *lines = nullptr;
  };

  Block find_block(llvm::Value* number);
  // Whether the previous block had other rows, or there is none.
  llvm::Value* has_new_rows(const Block& block, llvm::Value* is_first);
  void copy_panels(const TiledContraction& contraction, const Block& block);
  void make_panels(const TiledContraction& contraction, const Block& block, llvm::Value* k);
  void copy_rows(const TiledContraction& contraction, const Block& block);
  // A tile of a block, computed by one micro kernel.
  struct Tile {
    llvm::Value *row, *column;
    llvm::Value *rows, *last_column;
    llvm::Value* sums;  // bytes from the start of the block's sums
  };
  // Emits a loop over the tiles of a block, column by column.
  void for_each_tile(const Block& block, const std::function<void(const Tile&)>& body);
  void emit_sums(const TiledContraction& contraction, const Block& block);
  void emit_sum(const TiledContraction& contraction, const Block& block, const Tile& tile,
                llvm::Value* k);
  void prepare_rows(const TiledContraction& contraction, const Block& block);
  RowOperand left_operand(const TiledFactor& left, const Block& block, llvm::Value* row,
                          llvm::Value* k);
  QuantisedEmitter::Rows rows_of(const TiledContraction& contraction, const Block& block);
  PanelOperand right_operand(const TiledContraction& contraction, const Block& block,
                             const Tile& tile, llvm::Value* k);
  PanelOperand::Next next_panels(const PanelOperand& panels, const TiledContraction& contraction,
                                 const Block& block, const Tile& tile, llvm::Value* k);
  PanelOperand::Next next_integers(const TiledContraction& contraction, const Block& block,
                                   const Tile& tile, llvm::Value* k);
  PanelOperand::Next part_of(PanelOperand::Next next, const TiledContraction& contraction,
                             int64_t bytes_of_k, const Block& block, const Tile& tile,
                             llvm::Value* k);
  // Whether another k block follows the one that starts at `k`.
  llvm::Value* has_more(const TiledContraction& contraction, llvm::Value* k);
  void emit_epilogue(const Tile& tile);
  void emit_epilogue_of_lines(const Block& block);
  // The columns of a row whose first sum is at `sums`, in bytes from the start of the block's sums.
  void emit_epilogue_of_row(llvm::Value* row, llvm::Value* sums, llvm::Value* column,
                            llvm::Value* last_column);
  // The step along k from block to block.
  int64_t block_k(const TiledContraction& contraction) const;
  int64_t bytes_of_sum_row() const;
  void emit_stage(kernel::StageId stage, int level);

  void set_row(llvm::Value* row);
  void unset_row();
  llvm::Value* extent(kernel::LoopId loop);
  int64_t bytes_of_element(const TiledFactor& factor) const;
  llvm::Value* in_param(const TiledFactor& factor, llvm::Value* more);
  llvm::Value* in_scratch(Expr offset, llvm::Value* more);
  llvm::Value* i64(int64_t value);
  llvm::Value* at_most(llvm::Value* value, llvm::Value* most);

  EmitState& state_;
  const Tiling& tiling_;
  const Target& target_;
  Builder& builder_;
  IndexEmitter& index_;
  LoopEmitter& loops_;
};

}  // namespace luminal::backends::cpu
