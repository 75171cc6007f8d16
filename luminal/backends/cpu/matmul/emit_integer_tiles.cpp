#include "luminal/backends/cpu/matmul/emit_integer_tiles.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

#include "luminal/backends/cpu/matmul/emit_integers.h"
#include "luminal/backends/cpu/micro/emit_parts.h"

namespace luminal::backends::cpu {

using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

namespace {

constexpr int kRowsOfTile = 16;  // and lanes
constexpr int64_t kRowOfTile = 64;
// Quantisation groups have independent accumulators, which hides the latency of products: two
// groups alternate.
constexpr int kTurns = 2;
// The assignment of the 8 tile registers.
constexpr int kFirstSum = 0;
constexpr int kFirstRight = kFirstSum + kStretchesAtOnce;
constexpr int kFirstLeft = kFirstRight + kTurns;

}  // namespace

IntegerTilesEmitter::IntegerTilesEmitter(EmitState& state, const Target& target,
                                         const TiledContraction& contraction)
    : state_(state),
      tiling_(*state.schedule.tiling),
      target_(target),
      contraction_(contraction),
      quantised_(*contraction.quantised),
      builder_(state.builder),
      index_(state.index),
      loops_(state.loops),
      length_(*state.schedule.extents[contraction.k].to_int()),
      n_stretches_(length_ / quantised_.block),
      steps_(quantised_.block / kTileDepth),
      at_once_(
          static_cast<int>(std::min<int64_t>(kStretchesAtOnce, kPanelDepth / quantised_.block))),
      vector_(llvm::FixedVectorType::get(builder_.getFloatTy(), kRowsOfTile)) {}

Value* IntegerTilesEmitter::i64(int64_t value) {
  return builder_.getInt64(static_cast<uint64_t>(value));
}

Value* IntegerTilesEmitter::times(Value* a, int64_t b) { return builder_.CreateMul(a, i64(b)); }

Value* IntegerTilesEmitter::at(Value* base, Value* bytes) {
  return builder_.CreatePtrAdd(base, bytes);
}

Value* IntegerTilesEmitter::piece(Value* base, Value* number) {
  return at(base, times(number, kTilePiece));
}

Value* IntegerTilesEmitter::in_scratch(Expr offset, Value* more) {
  return at(state_.scratch, builder_.CreateAdd(index_.scalar(offset), more));
}

Value* IntegerTilesEmitter::multiply_add(Value* a, Value* b, Value* sum) {
  return builder_.CreateIntrinsic(intrinsic::fmuladd, {vector_}, {a, b, sum});
}

void IntegerTilesEmitter::on_tile(intrinsic::ID id, int tile, llvm::ArrayRef<Value*> more) {
  Values arguments = {builder_.getInt8(static_cast<uint8_t>(tile))};
  arguments.insert(arguments.end(), more.begin(), more.end());
  builder_.CreateIntrinsic(id, {}, arguments);
}

// Splits rows into bf16 terms, stored tile by tile: by row tile, then k, then term. The row sums
// for the offsets are sums of the same terms, so that both have the same error.
void IntegerTilesEmitter::prepare_rows(const QuantisedEmitter::Rows& rows) {
  const int n_parts = quantised_.n_row_parts;
  loops_.counted(i64(0), rows.count, 1, {}, [&](Value* row, const Values&) {
    Value* from = at(rows.base, builder_.CreateMul(row, rows.row_bytes));
    Value* before =
        times(builder_.CreateUDiv(row, i64(kRowsOfTile)), length_ / kTileDepth * n_parts);
    Value* to = piece(in_scratch(quantised_.row_parts, i64(0)), before);
    to = at(to, times(builder_.CreateURem(row, i64(kRowsOfTile)), kRowOfTile));
    loops_.counted(i64(0), i64(n_stretches_), 1, {}, [&](Value* stretch, const Values&) {
      Value* total = llvm::Constant::getNullValue(vector_);
      for (int64_t step = 0; step < steps_; ++step) {
        Value* number = builder_.CreateAdd(times(stretch, steps_), i64(step));
        const Values values = row_values(at(from, times(number, kTileDepth * 4)));
        Values left_out = values;
        const Values parts = bf16_parts(builder_, left_out, {n_parts, n_parts == 2});
        for (int part = 0; part < n_parts; ++part) {
          Value* place = piece(to, builder_.CreateAdd(times(number, n_parts), i64(part)));
          builder_.CreateAlignedStore(parts[static_cast<size_t>(part)], place,
                                      llvm::Align(kRowOfTile));
        }
        for (size_t v = 0; v < values.size(); ++v) {
          total = builder_.CreateFAdd(total, builder_.CreateFSub(values[v], left_out[v]));
        }
      }
      if (!quantised_.offset.valid()) return Values();
      llvm::CallInst* sum =
          builder_.CreateFAddReduce(llvm::ConstantFP::get(builder_.getFloatTy(), -0.0), total);
      sum->setHasAllowReassoc(true);
      Value* position = builder_.CreateAdd(times(row, n_stretches_), stretch);
      builder_.CreateAlignedStore(sum, at(rows.sums, times(position, 4)), llvm::Align(4));
      return Values();
    });
    return Values();
  });
}

// Loads as many f32 as a tile holds along k.
Values IntegerTilesEmitter::row_values(Value* from) {
  Values values;
  for (int64_t k = 0; k < kTileDepth; k += kRowsOfTile) {
    values.push_back(builder_.CreateAlignedLoad(vector_, at(from, i64(k * 4)), llvm::Align(4)));
  }
  return values;
}

void IntegerTilesEmitter::emit(const QuantisedEmitter::Rows& rows,
                               const QuantisedEmitter::Columns& columns) {
  loops_.counted(i64(0), i64(length_), kPanelDepth, {}, [&](Value* from, const Values&) {
    Value* to = builder_.CreateBinaryIntrinsic(
        intrinsic::smin, builder_.CreateAdd(from, i64(kPanelDepth)), i64(length_));
    const Range k{from, to};
    make_panels(columns, k);
    // Rows stay in the L1 cache for all columns.
    loops_.counted(i64(0), rows.count, kRowsOfTile, {}, [&](Value* row, const Values&) {
      loops_.chunked(columns_of(columns), {}, [&](const Values&) {
        sum_tile(rows, columns, row, k);
        return Values();
      });
      return Values();
    });
    return Values();
  });
}

// One panel at a time; without a masked remainder if all panels are whole.
LoopEmitter::VectorLoop IntegerTilesEmitter::columns_of(const QuantisedEmitter::Columns& columns) {
  const Expr extent = state_.schedule.extents[tiling_.column_loop];
  return {.loop = tiling_.column_loop,
          .from = columns.from,
          .to = columns.to,
          .lanes = tiling_.lanes,
          .unroll = 1,
          .whole = (extent % tiling_.lanes).is(0)};
}

Value* IntegerTilesEmitter::column() {
  return index_.scalar(
      kernel::index_of(tiling_.column_loop, state_.schedule.extents[tiling_.column_loop]));
}

// The address of the chunk's columns as bf16.
Value* IntegerTilesEmitter::panel_at(Value* column, const QuantisedEmitter::Columns& columns) {
  Value* panel = builder_.CreateUDiv(builder_.CreateSub(column, columns.from), i64(tiling_.lanes));
  return piece(in_scratch(quantised_.panels, i64(0)), times(panel, kPanelDepth / kTileDepth));
}

// Converts integers to bf16, two along k per lane. As floats their lower halves are zeros, so the
// upper halves are the bf16 values.
void IntegerTilesEmitter::make_panels(const QuantisedEmitter::Columns& columns, const Range& k) {
  const TiledIntegers& integers = quantised_.integers.front();
  auto* words = llvm::FixedVectorType::get(builder_.getInt32Ty(), kRowsOfTile);
  loops_.chunked(columns_of(columns), {}, [&](const Values&) {
    Value* from = integer_panel(state_, integers, 0);
    Value* to = panel_at(column(), columns);
    loops_.counted(k.from, k.to, kTileDepth, {}, [&](Value* first, const Values&) {
      Value* number = builder_.CreateUDiv(builder_.CreateSub(first, k.from), i64(kTileDepth));
      Value* tile = piece(to, number);
      Values floats;
      while (floats.size() < kTileDepth) {
        Value* here = builder_.CreateAdd(first, i64(static_cast<int64_t>(floats.size())));
        for (Value* x : integer_elements(state_, target_, integers, from, here)) {
          floats.push_back(builder_.CreateBitCast(x, words));
        }
      }
      for (size_t j = 0; j < kTileDepth; j += 2) {
        Value* pair = builder_.CreateOr(builder_.CreateLShr(floats[j], 16), floats[j + 1]);
        Value* row = at(tile, i64(static_cast<int64_t>(j) / 2 * kRowOfTile));
        builder_.CreateAlignedStore(pair, row, llvm::Align(kRowOfTile));
      }
      return Values();
    });
    return Values();
  });
}

// Adds to the sums of earlier ranges of k.
void IntegerTilesEmitter::sum_tile(const QuantisedEmitter::Rows& rows,
                                   const QuantisedEmitter::Columns& columns, Value* row,
                                   const Range& k) {
  // Sums are stored in tiles of the tiling's shape, column by column of tiles.
  const int64_t width = int64_t{tiling_.shape.panels} * tiling_.lanes;
  Value* in_block = builder_.CreateSub(column(), columns.from);
  Value* in_tile = builder_.CreateURem(in_block, i64(width));
  Value* before = times(builder_.CreateSub(in_block, in_tile), tiling_.block_rows);
  Value* position = builder_.CreateAdd(builder_.CreateAdd(before, times(row, width)), in_tile);
  Value* sums_at = in_scratch(contraction_.sums, times(position, 4));
  const Tile tile{.row = row,
                  .panel = panel_at(column(), columns),
                  .row_sums = at(rows.sums, times(row, n_stretches_ * 4))};
  Values sums = loops_.either(
      builder_.CreateICmpEQ(k.from, i64(0)),
      [&] { return Values(kRowsOfTile, llvm::Constant::getNullValue(vector_)); },
      [&] {
        Values loaded;
        for (int r = 0; r < kRowsOfTile; ++r) {
          Value* of_row = at(sums_at, i64(r * width * 4));
          loaded.push_back(builder_.CreateAlignedLoad(vector_, of_row, llvm::Align(kRowOfTile)));
        }
        return loaded;
      });
  Value* stretches = builder_.CreateUDiv(builder_.CreateSub(k.to, k.from), i64(quantised_.block));
  Value* whole = builder_.CreateAnd(stretches, i64(-at_once_));
  auto some = [&](int n) {
    return [&, n](Value* first, const Values& carried) {
      return add_stretches(tile, k, first, n, carried);
    };
  };
  sums = loops_.counted(i64(0), whole, at_once_, sums, some(at_once_));
  if (at_once_ > 1) sums = loops_.counted(whole, stretches, 1, sums, some(1));
  for (int r = 0; r < kRowsOfTile; ++r) {
    builder_.CreateAlignedStore(sums[static_cast<size_t>(r)], at(sums_at, i64(r * width * 4)),
                                llvm::Align(kRowOfTile));
  }
}

// Adds n quantisation groups, starting with group `first` of the range.
Values IntegerTilesEmitter::add_stretches(const Tile& tile, const Range& k, Value* first, int n,
                                          Values sums) {
  multiply(tile, k, first, n);
  for (int s = 0; s < n; ++s) {
    Value* to = in_scratch(quantised_.tiles, i64(s * kTilePiece));
    on_tile(intrinsic::x86_tilestored64, kFirstSum + s, {to, i64(kRowOfTile)});
  }
  Value* before = builder_.CreateUDiv(k.from, i64(quantised_.block));
  for (int s = 0; s < n; ++s) {
    Value* stretch = builder_.CreateAdd(builder_.CreateAdd(before, first), i64(s));
    sums = scaled(tile, stretch, s, std::move(sums));
  }
  return sums;
}

void IntegerTilesEmitter::multiply(const Tile& tile, const Range& k, Value* first, int n) {
  Value* tile_of_rows =
      times(builder_.CreateUDiv(tile.row, i64(kRowsOfTile)), length_ / kTileDepth);
  Value* before = builder_.CreateUDiv(k.from, i64(kTileDepth));
  Value* rows = piece(in_scratch(quantised_.row_parts, i64(0)),
                      times(builder_.CreateAdd(tile_of_rows, before), quantised_.n_row_parts));
  for (int s = 0; s < n; ++s) on_tile(intrinsic::x86_tilezero, kFirstSum + s, {});
  for (int turn = 0; turn < n; turn += kTurns) {
    const int end = std::min(n, turn + kTurns);
    for (int64_t step = 0; step < steps_; ++step) {
      auto number = [&](int s) {
        return builder_.CreateAdd(times(first, steps_), i64(s * steps_ + step));
      };
      for (int s = turn; s < end; ++s) {
        on_tile(intrinsic::x86_tileloadd64, kFirstRight + s % kTurns,
                {piece(tile.panel, number(s)), i64(kRowOfTile)});
      }
      for (int part = 0; part < quantised_.n_row_parts; ++part) {
        for (int s = turn; s < end; ++s) {
          const int left = kFirstLeft + s % kTurns, right = kFirstRight + s % kTurns;
          Value* from =
              piece(rows, builder_.CreateAdd(times(number(s), quantised_.n_row_parts), i64(part)));
          on_tile(intrinsic::x86_tileloadd64, left, {from, i64(kRowOfTile)});
          on_tile(intrinsic::x86_tdpbf16ps, kFirstSum + s,
                  {builder_.getInt8(static_cast<uint8_t>(left)),
                   builder_.getInt8(static_cast<uint8_t>(right))});
        }
      }
    }
  }
}

// Adds scale · (the products of one group, in tile n) + offset · (the row sum of the group).
Values IntegerTilesEmitter::scaled(const Tile& tile, Value* stretch, int n, Values sums) {
  Value* k = times(stretch, quantised_.block);
  index_.open_level();
  index_.set_loop(contraction_.k, {k});
  Value* slope = stage_vectors(state_, quantised_.integers.front().slope).front();
  Value* offset = nullptr;
  if (quantised_.offset.valid()) offset = stage_vectors(state_, quantised_.offset).front();
  for (int r = 0; r < kRowsOfTile; ++r) {
    Value*& sum = sums[static_cast<size_t>(r)];
    Value* left = in_scratch(quantised_.tiles, i64(n * kTilePiece + r * kRowOfTile));
    sum = multiply_add(slope, builder_.CreateAlignedLoad(vector_, left, llvm::Align(kRowOfTile)),
                       sum);
    if (offset == nullptr) continue;
    Value* of_row = at(tile.row_sums, times(builder_.CreateAdd(stretch, i64(r * n_stretches_)), 4));
    Value* x = builder_.CreateAlignedLoad(builder_.getFloatTy(), of_row, llvm::Align(4));
    sum = multiply_add(offset, builder_.CreateVectorSplat(kRowsOfTile, x), sum);
  }
  index_.unset_loop(contraction_.k);
  index_.close_level();
  return sums;
}

}  // namespace luminal::backends::cpu
