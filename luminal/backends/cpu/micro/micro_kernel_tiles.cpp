// Micro kernels on AMX tile registers: up to 16 rows of 64 bytes each, numbered 0 … 7.
//
// A tile of the left operand holds 16 rows × 32 bf16 or 64 i8. A tile of the right operand holds as
// many elements along k of 16 lanes, in panel order: 16 vectors with 4 bytes per lane. A tile of
// sums holds 16 rows × 16 lanes.
#include <llvm/IR/IntrinsicsX86.h>

#include "luminal/backends/cpu/micro/micro_kernel_parts.h"

namespace luminal::backends::cpu {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;

constexpr int kTileRows = 16;
constexpr int kTileBytes = 64;  // of a row
constexpr int kTiles = 8;
constexpr int kPanelLanes = 16;

// An alloca in the function's entry block.
llvm::AllocaInst* on_stack(Builder& builder, int64_t bytes) {
  Builder::InsertPointGuard guard(builder);
  llvm::BasicBlock& entry = builder.GetInsertBlock()->getParent()->getEntryBlock();
  builder.SetInsertPoint(&entry, entry.begin());
  llvm::AllocaInst* memory =
      builder.CreateAlloca(builder.getInt8Ty(), builder.getInt64(static_cast<uint64_t>(bytes)));
  memory->setAlignment(llvm::Align(kTileBytes));
  return memory;
}

// The assignment of the 8 tile registers. If there are fewer right ones than panels, these rotate.
class TileNumbers {
 public:
  explicit TileNumbers(MicroShape shape)
      : row_tiles_(shape.rows > kTileRows ? 2 : 1), panels_(shape.panels) {}

  int row_tiles() const { return row_tiles_; }
  int sums(int row_tile, int panel) const { return row_tile * panels_ + panel; }
  int left(int row_tile) const { return row_tiles_ * panels_ + row_tile; }
  int right(int panel) const {
    const int first = left(row_tiles_);
    return first + panel % (kTiles - first);
  }
  // The number of the row tile that a register belongs to; −1 for the right operand.
  int row_tile_of(int tile) const {
    if (tile < left(0)) return tile / panels_;
    return tile < left(row_tiles_) ? tile - left(0) : -1;
  }

 private:
  int row_tiles_, panels_;
};

// Configures the tiles for a number of rows (ldtilecfg), which also zeroes them.
void configure(Builder& builder, MicroShape shape, Value* rows) {
  const TileNumbers numbers(shape);
  auto* type = llvm::FixedVectorType::get(builder.getInt8Ty(), kTileBytes);
  Value* config = llvm::Constant::getNullValue(type);
  auto put = [&](int at, Value* byte) {
    config = builder.CreateInsertElement(config, byte, builder.getInt64(static_cast<uint64_t>(at)));
  };
  auto bound = [&](llvm::Intrinsic::ID id, Value* value, uint64_t limit) {
    return builder.CreateBinaryIntrinsic(id, value, builder.getInt64(limit));
  };
  put(0, builder.getInt8(1));  // the palette: 8 tiles of 16 rows × 64 bytes
  for (int tile = 0; tile < kTiles; ++tile) {
    Value* tile_rows = builder.getInt64(kTileRows);
    if (const int t = numbers.row_tile_of(tile); t >= 0) {
      tile_rows = builder.CreateSub(rows, builder.getInt64(static_cast<uint64_t>(t * kTileRows)));
      // Even an unused tile needs a row: 0 rows are only valid with 0 bytes per row.
      tile_rows = bound(llvm::Intrinsic::smin, tile_rows, kTileRows);
      tile_rows = bound(llvm::Intrinsic::smax, tile_rows, 1);
    }
    put(16 + 2 * tile, builder.getInt8(kTileBytes));  // 16 bits: bytes of a row
    put(48 + tile, builder.CreateTrunc(tile_rows, builder.getInt8Ty()));
  }
  llvm::AllocaInst* memory = on_stack(builder, kTileBytes);
  builder.CreateAlignedStore(config, memory, llvm::Align(kTileBytes));
  Value* address = memory;  // an Instruction* could be taken for the argument FMFSource
  builder.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, {address});
}

class TilesMicroKernel {
 public:
  explicit TilesMicroKernel(const MicroKernel& kernel);

  void emit();

 private:
  // Tiles computed at once: static numbers of row tiles and panels, since instructions name tile
  // registers by number; the addresses of the panels and of the sums.
  struct Part {
    int row_tiles, panels;
    Value *right, *tile;
  };
  // Addresses of the operands of one step along k.
  struct Operands {
    Value *left, *left_row_bytes, *left_part_bytes;
    Value *right, *panel_bytes;
  };

  void with_rows(int panels, Value* right, Value* tile);
  void part(const Part& part);
  void prefetch(const Part& part, Value* offset);
  void prefetch_next(const Part& part, Value* k);
  void step(const Part& part, const Operands& from);
  void step_of_parts(const Part& part, const Operands& from);
  void load_right(int panel, const Operands& from);
  void load_left(int row_tile, Value* from, Value* row_bytes);
  void multiply_add(int row_tile, int panel);
  Operands copy_rest(const Part& part);
  // Byte offsets of element k in a row and in a panel.
  Value* left_offset(Value* k) const { return k_.times(k, element_bytes(k_.multiply)); }
  Value* right_offset(Value* k) const {
    return k_.times(k, element_bytes(k_.multiply) * kPanelLanes);
  }
  void copy_rest_of_rows();
  void copy_rest_of_panels(const Part& part);
  void each_sum(const Part& part, const std::function<void(int tile, Value* at)>& body);

  void call(ID id, llvm::ArrayRef<Value*> arguments) { b_.CreateIntrinsic(id, {}, arguments); }
  void load(int tile, Value* from, Value* stride) {
    call(llvm::Intrinsic::x86_tileloadd64, {number(tile), from, stride});
  }
  Value* number(int tile) { return b_.getInt8(static_cast<uint8_t>(tile)); }

  const MicroKernel& k_;
  Builder& b_;
  IndexEmitter index_;
  LoopEmitter loops_;
  const TileNumbers tiles_;
  const int step_;  // elements along k per step
  Value* rest_;     // remainder of k after whole steps
  Value* whole_;    // k without the remainder
  llvm::AllocaInst* rest_left_;
  llvm::AllocaInst* rest_right_;
};

TilesMicroKernel::TilesMicroKernel(const MicroKernel& kernel)
    : k_(kernel),
      b_(kernel.builder),
      index_(b_),
      loops_(b_, index_),
      tiles_(kernel.shape),
      step_(kTileBytes / element_bytes(kernel.multiply)) {
  rest_ = b_.CreateAnd(k_.k_count, k_.i64(step_ - 1));
  whole_ = b_.CreateSub(k_.k_count, rest_);
  rest_left_ = on_stack(b_, int64_t{k_.left.parts} * k_.shape.rows * kTileBytes);
  rest_right_ = on_stack(b_, int64_t{k_.shape.panels} * kTileRows * kTileBytes);
}

// Panels are computed together if there are as many as in the shape, else one by one.
void TilesMicroKernel::emit() {
  Value* fewer = b_.CreateICmpNE(k_.rows, k_.i64(k_.shape.rows));
  loops_.guarded(fewer, [&] { configure(b_, k_.shape, k_.rows); });
  branch(
      loops_, b_.CreateICmpEQ(k_.panels, k_.i64(k_.shape.panels)),
      [&] { with_rows(k_.shape.panels, k_.right.base, k_.tile); },
      [&] {
        loops_.counted(k_.i64(0), k_.panels, 1, {}, [&](Value* p, const Values&) {
          with_rows(1, k_.at(k_.right.base, b_.CreateNSWMul(p, k_.right.panel_bytes)),
                    k_.at(k_.tile, k_.times(p, kTileBytes)));
          return Values();
        });
      });
  loops_.guarded(fewer, [&] { configure(b_, k_.shape, k_.i64(k_.shape.rows)); });
}

void TilesMicroKernel::with_rows(int panels, Value* right, Value* tile) {
  if (tiles_.row_tiles() == 1) return part({1, panels, right, tile});
  branch(
      loops_, b_.CreateICmpSGT(k_.rows, k_.i64(kTileRows)), [&] { part({2, panels, right, tile}); },
      [&] { part({1, panels, right, tile}); });
}

void TilesMicroKernel::part(const Part& part) {
  Value* stride = k_.tile_row_bytes;
  branch(
      loops_, k_.adds,
      [&] { each_sum(part, [&](int tile, Value* at) { load(tile, at, stride); }); },
      [&] {
        each_sum(part,
                 [&](int tile, Value*) { call(llvm::Intrinsic::x86_tilezero, {number(tile)}); });
      });
  loops_.counted(k_.i64(0), whole_, step_, {}, [&](Value* k, const Values&) {
    Value* offset = right_offset(k);
    if (k_.streams()) prefetch(part, k_.ahead(offset));
    if (k_.right.next.base != nullptr && !k_.streams()) prefetch_next(part, k);
    step(part, {.left = k_.at(k_.left.base, left_offset(k)),
                .left_row_bytes = k_.left.row_bytes,
                .left_part_bytes = k_.left.part_bytes,
                .right = k_.at(part.right, offset),
                .panel_bytes = k_.right.panel_bytes});
    return Values();
  });
  loops_.guarded(b_.CreateICmpNE(rest_, k_.i64(0)), [&] { step(part, copy_rest(part)); });
  each_sum(part, [&](int tile, Value* at) {
    call(llvm::Intrinsic::x86_tilestored64, {number(tile), at, stride});
  });
}

void TilesMicroKernel::prefetch(const Part& part, Value* offset) {
  for (int p = 0; p < part.panels; ++p) {
    Value* panel = k_.at(part.right, k_.times(k_.right.panel_bytes, p));
    for (int row = 0; row < kTileRows; ++row) {
      emit_prefetch(k_.builder, k_.at(k_.at(panel, offset), k_.i64(int64_t{row} * kTileBytes)));
    }
  }
}

// Prefetches into L2: L1 holds the rows.
void TilesMicroKernel::prefetch_next(const Part& part, Value* k) {
  constexpr uint32_t kSecondCache = 2;
  constexpr int64_t kLine = 64;
  const PanelOperand::Next& next = k_.right.next;
  const int64_t bytes = (next.bytes_of_step + next.parts - 1) / next.parts;
  Value* before = b_.CreateUDiv(k_.times(k, next.bytes_of_step), k_.i64(step_ * next.parts));
  for (int p = 0; p < part.panels; ++p) {
    Value* from = k_.at(k_.at(next.base, k_.times(next.panel_bytes, p)), before);
    for (int64_t line = 0; line < bytes; line += kLine) {
      emit_prefetch(b_, k_.at(from, k_.i64(line)), kSecondCache);
    }
  }
}

void TilesMicroKernel::step(const Part& part, const Operands& from) {
  if (k_.left.parts > 1) return step_of_parts(part, from);
  for (int p = 0; p < part.panels; ++p) {
    load_right(p, from);
    for (int t = 0; t < part.row_tiles; ++t) {
      if (p == 0) load_left(t, from.left, from.left_row_bytes);
      multiply_add(t, p);
    }
  }
}

// Tiles of the right operand are reused for all terms of the left one.
void TilesMicroKernel::step_of_parts(const Part& part, const Operands& from) {
  for (int p = 0; p < part.panels; ++p) load_right(p, from);
  for (int n = 0; n < k_.left.parts; ++n) {
    Value* left = n == 0 ? from.left : k_.at(from.left, k_.times(from.left_part_bytes, n));
    for (int t = 0; t < part.row_tiles; ++t) {
      load_left(t, left, from.left_row_bytes);
      for (int p = 0; p < part.panels; ++p) multiply_add(t, p);
    }
  }
}

// Loads with a non-temporal hint (tileloaddt1), which leaves L1 to the rows: those are reused.
void TilesMicroKernel::load_right(int panel, const Operands& from) {
  Value* at = k_.at(from.right, k_.times(from.panel_bytes, panel));
  call(llvm::Intrinsic::x86_tileloaddt164, {number(tiles_.right(panel)), at, k_.i64(kTileBytes)});
}

void TilesMicroKernel::load_left(int row_tile, Value* from, Value* row_bytes) {
  load(tiles_.left(row_tile), k_.at(from, k_.times(row_bytes, row_tile * kTileRows)), row_bytes);
}

void TilesMicroKernel::multiply_add(int row_tile, int panel) {
  call(k_.multiply == Multiply::Bf16Tiles ? llvm::Intrinsic::x86_tdpbf16ps
                                          : llvm::Intrinsic::x86_tdpbssd,
       {number(tiles_.sums(row_tile, panel)), number(tiles_.left(row_tile)),
        number(tiles_.right(panel))});
}

// Copies the remainder of k, padded with zeros to a whole step. Reconfiguring the tiles for it
// would take longer, and a row may end within the 4 bytes that a tile reads at once.
TilesMicroKernel::Operands TilesMicroKernel::copy_rest(const Part& part) {
  copy_rest_of_rows();
  copy_rest_of_panels(part);
  return {.left = rest_left_,
          .left_row_bytes = k_.i64(kTileBytes),
          .left_part_bytes = k_.i64(int64_t{k_.shape.rows} * kTileBytes),
          .right = rest_right_,
          .panel_bytes = k_.i64(int64_t{kTileRows} * kTileBytes)};
}

void TilesMicroKernel::copy_rest_of_rows() {
  Value* first = k_.at(k_.left.base, left_offset(whole_));
  loops_.counted(k_.i64(0), k_.rows, 1, {}, [&](Value* row, const Values&) {
    Value* from = k_.at(first, b_.CreateNSWMul(row, k_.left.row_bytes));
    Value* to = k_.at(rest_left_, k_.times(row, kTileBytes));
    for (int n = 0; n < k_.left.parts; ++n) {
      if (n > 0) from = k_.at(from, k_.left.part_bytes);
      Value* part = k_.at(to, k_.i64(int64_t{n} * k_.shape.rows * kTileBytes));
      b_.CreateAlignedStore(k_.first_elements(from, rest_, step_), part, llvm::Align(kTileBytes));
    }
    return Values();
  });
}

void TilesMicroKernel::copy_rest_of_panels(const Part& part) {
  auto* type = llvm::FixedVectorType::get(b_.getInt32Ty(), kTileBytes / 4);
  const int per_lane = elements_per_lane(k_.multiply);
  Value* vectors = b_.CreateUDiv(b_.CreateAdd(rest_, k_.i64(per_lane - 1)), k_.i64(per_lane));
  Value* first = k_.at(part.right, right_offset(whole_));
  loops_.counted(k_.i64(0), k_.i64(part.panels), 1, {}, [&](Value* p, const Values&) {
    Value* from = k_.at(first, b_.CreateNSWMul(p, k_.right.panel_bytes));
    Value* to = k_.at(rest_right_, k_.times(p, int64_t{kTileRows} * kTileBytes));
    auto store = [&](Value* vector, Value* value) {
      b_.CreateAlignedStore(value, k_.at(to, k_.times(vector, kTileBytes)),
                            llvm::Align(kTileBytes));
      return Values();
    };
    loops_.counted(k_.i64(0), vectors, 1, {}, [&](Value* vector, const Values&) {
      Value* at = k_.at(from, k_.times(vector, kTileBytes));
      return store(vector, b_.CreateAlignedLoad(type, at, llvm::Align(4)));
    });
    loops_.counted(vectors, k_.i64(kTileRows), 1, {}, [&](Value* vector, const Values&) {
      return store(vector, llvm::Constant::getNullValue(type));
    });
    return Values();
  });
}

void TilesMicroKernel::each_sum(const Part& part,
                                const std::function<void(int tile, Value* at)>& body) {
  for (int t = 0; t < part.row_tiles; ++t) {
    for (int p = 0; p < part.panels; ++p) {
      Value* row = k_.at(part.tile, k_.times(k_.tile_row_bytes, t * kTileRows));
      body(tiles_.sums(t, p), k_.at(row, k_.i64(int64_t{p} * kTileBytes)));
    }
  }
}

}  // namespace

void emit_tiles_setup(Builder& builder, MicroShape shape) {
  configure(builder, shape, builder.getInt64(static_cast<uint64_t>(shape.rows)));
}

void emit_tiles_release(Builder& builder) {
  builder.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}, llvm::ArrayRef<Value*>());
}

void emit_tiles_micro_kernel(const MicroKernel& kernel) { TilesMicroKernel(kernel).emit(); }

}  // namespace luminal::backends::cpu
