#include "luminal/backends/cpu/matmul/emit_tiles.h"

#include "luminal/backends/cpu/matmul/emit_integer_panels.h"
#include "luminal/backends/cpu/matmul/emit_integer_tiles.h"
#include "luminal/backends/cpu/matmul/emit_integers.h"
#include "luminal/backends/cpu/matmul/emit_panels.h"
#include "luminal/backends/cpu/matmul/emit_windows.h"

namespace luminal::backends::cpu {

using llvm::Value;

TileEmitter::TileEmitter(EmitState& state, const Target& target)
    : state_(state),
      tiling_(*state.schedule.tiling),
      target_(target),
      builder_(state.builder),
      index_(state.index),
      loops_(state.loops) {}

Value* TileEmitter::i64(int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); }

Value* TileEmitter::at_most(Value* value, Value* most) {
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, most);
}

Value* TileEmitter::extent(kernel::LoopId loop) {
  return index_.scalar(state_.schedule.extents[loop]);
}

Value* TileEmitter::in_scratch(Expr offset, Value* more) {
  Value* at = builder_.CreateAdd(index_.scalar(offset), more);
  return builder_.CreateGEP(builder_.getInt8Ty(), state_.scratch, at);
}

void TileEmitter::set_row(Value* row) {
  if (tiling_.row_loop.valid()) index_.set_loop(tiling_.row_loop, {row});
}

void TileEmitter::unset_row() {
  if (tiling_.row_loop.valid()) index_.unset_loop(tiling_.row_loop);
}

void TileEmitter::emit(Value* first, Value* last) {
  loops_.counted(first, last, 1, {}, [&](Value* number, const Values&) {
    const Block block = find_block(number);
    Value* is_first = builder_.CreateICmpEQ(number, first);
    Value* has_new_panels =
        builder_.CreateOr(is_first, builder_.CreateICmpEQ(block.of_rows, i64(0)));
    loops_.guarded(has_new_panels, [&] {
      for (const TiledContraction& contraction : tiling_.contractions) {
        const bool later = contraction.quantised || contraction.made_of || contraction.same_panels;
        if (contraction.windows) {
          WindowCopier(state_, tiling_, contraction).emit(block.line, block.lines);
        } else if (!contraction.right.in_place && !later) {
          copy_panels(contraction, block);
        }
      }
    });
    loops_.guarded(has_new_rows(block, is_first), [&] {
      for (const TiledContraction& contraction : tiling_.contractions) {
        if (!contraction.left.in_place) copy_rows(contraction, block);
        if (contraction.quantised) prepare_rows(contraction, block);
      }
    });
    for (const TiledContraction& contraction : tiling_.contractions) emit_sums(contraction, block);
    if (tiling_.windows) {
      emit_epilogue_of_lines(block);
    } else {
      for_each_tile(block, [&](const Tile& tile) { emit_epilogue(tile); });
    }
    for (kernel::LoopId loop : tiling_.others) index_.unset_loop(loop);
    index_.close_level();
    return Values();
  });
}

Value* TileEmitter::has_new_rows(const Block& block, Value* is_first) {
  if (tiling_.same_rows) return is_first;
  if (!tiling_.integers_on_tiles) return builder_.getTrue();
  return builder_.CreateOr(is_first, builder_.CreateICmpEQ(block.of_columns, i64(0)));
}

// Opens the level of the block and sets the indices of its batch loops. Row blocks vary fastest, so
// that consecutive blocks read the same panels; for quantised AMX products column blocks do, since
// preparing rows takes longer there.
TileEmitter::Block TileEmitter::find_block(Value* number) {
  Value* rest = number;
  auto take = [&](Value* count) {
    Value* index = builder_.CreateURem(rest, count);
    rest = builder_.CreateUDiv(rest, count);
    return index;
  };
  Block block;
  auto take_rows = [&] { block.of_rows = take(index_.scalar(tiling_.row_blocks)); };
  if (!tiling_.integers_on_tiles) take_rows();
  block.of_columns = take(index_.scalar(tiling_.column_blocks));
  if (tiling_.integers_on_tiles) take_rows();
  Values indices(tiling_.others.size());
  for (size_t k = indices.size(); k-- > 0;) indices[k] = take(extent(tiling_.others[k]));
  block.row = builder_.CreateMul(block.of_rows, i64(tiling_.block_rows));
  Value* rows = !tiling_.row_loop.valid() ? i64(1) : extent(tiling_.row_loop);
  block.last_row = at_most(builder_.CreateAdd(block.row, i64(tiling_.block_rows)), rows);
  if (const auto& windows = tiling_.windows) {
    block.line = builder_.CreateMul(block.of_columns, i64(windows->lines));
    block.lines =
        at_most(builder_.CreateSub(i64(windows->extent), block.line), i64(windows->lines));
    Value* before =
        builder_.CreateMul(builder_.CreateSub(block.lines, i64(1)), i64(windows->pitch));
    block.column = i64(0);
    block.last_column = builder_.CreateAdd(before, i64(windows->length));
  } else {
    block.column = builder_.CreateMul(block.of_columns, i64(tiling_.block_columns));
    block.last_column = at_most(builder_.CreateAdd(block.column, i64(tiling_.block_columns)),
                                extent(tiling_.column_loop));
  }
  index_.open_level();
  for (size_t k = 0; k < indices.size(); ++k) index_.set_loop(tiling_.others[k], {indices[k]});
  return block;
}

void TileEmitter::emit_stage(kernel::StageId stage, int level) {
  StageEmitter emitter(state_, stage);
  emitter.emit_hoisted(level);
  emitter.emit();
}

void TileEmitter::copy_panels(const TiledContraction& contraction, const Block& block) {
  const PanelSource source{.stage = contraction.right.stage,
                           .column = tiling_.column_loop,
                           .k = contraction.k,
                           .multiply = tiling_.multiply,
                           .lanes = tiling_.lanes,
                           .panels = contraction.right.scratch,
                           .panel_pitch = contraction.right.pitch};
  Value* k = index_.scalar(state_.schedule.extents[contraction.k]);
  PanelCopier(state_, source)
      .emit({block.column, block.last_column}, {builder_.getInt64(0), k}, block.column);
}

// Dequantises the panels of the k block that starts at `k`.
void TileEmitter::make_panels(const TiledContraction& contraction, const Block& block, Value* k) {
  index_.open_level();
  Value* end = at_most(builder_.CreateAdd(k, i64(tiling_.block_k)), extent(contraction.k));
  IntegerPanelsEmitter(state_, target_, contraction)
      .emit({block.column, block.last_column}, {k, end},
            in_scratch(contraction.right.scratch, i64(0)), index_.scalar(contraction.right.pitch));
  index_.close_level();
}

// Copies the left factor row by row, vectorised along k. Loads that are invariant along k are
// hoisted out of that loop, so if k is empty no row may be copied.
void TileEmitter::copy_rows(const TiledContraction& contraction, const Block& block) {
  const TiledFactor& factor = contraction.left;
  Value* pitch = index_.scalar(factor.pitch);
  Value* some = builder_.CreateICmpSGT(extent(contraction.k), i64(0));
  Value* last_row = builder_.CreateSelect(some, block.last_row, block.row);
  loops_.counted(block.row, last_row, 1, {}, [&](Value* row, const Values&) {
    Value* in_block = builder_.CreateMul(builder_.CreateSub(row, block.row), pitch);
    index_.open_level();
    set_row(row);
    const int level = index_.level();
    loops_.chunked(
        {contraction.k, nullptr, extent(contraction.k), tiling_.lanes, 1}, {}, [&](const Values&) {
          emit_stage(factor.stage, level);
          Value* value = state_.locals[factor.stage][0];
          if (!value->getType()->isVectorTy()) {
            value = builder_.CreateVectorSplat(static_cast<unsigned>(tiling_.lanes), value);
          }
          if (tiling_.multiply != Multiply::F32) {
            const auto lanes = static_cast<unsigned>(tiling_.lanes);
            auto* words = llvm::FixedVectorType::get(builder_.getInt32Ty(), lanes);
            auto* halves = llvm::FixedVectorType::get(builder_.getInt16Ty(), lanes);
            value = builder_.CreateLShr(builder_.CreateBitCast(value, words), 16);
            value = builder_.CreateTrunc(value, halves);
          }
          const Expr k = kernel::index_of(contraction.k, state_.schedule.extents[contraction.k]);
          Value* in_row =
              builder_.CreateMul(index_.scalar(k), i64(element_bytes(tiling_.multiply)));
          Value* address = in_scratch(factor.scratch, builder_.CreateAdd(in_block, in_row));
          builder_.CreateAlignedStore(value, address, llvm::Align(2));
          return Values();
        });
    unset_row();
    index_.close_level();
    return Values();
  });
}

void TileEmitter::for_each_tile(const Block& block, const std::function<void(const Tile&)>& body) {
  const int64_t rows = tiling_.shape.rows;
  const int64_t columns = int64_t{tiling_.shape.panels} * tiling_.lanes;
  loops_.counted(block.column, block.last_column, columns, {}, [&](Value* column, const Values&) {
    // Sums are stored column by column of tiles; each column of tiles has block_rows rows. Those of
    // windows are stored row by row, since lines end within tiles.
    const int64_t bytes_of_column = tiling_.windows ? 4 : tiling_.block_rows * 4;
    const int64_t bytes_of_row = tiling_.windows ? bytes_of_sum_row() : columns * 4;
    Value* before =
        builder_.CreateMul(builder_.CreateSub(column, block.column), i64(bytes_of_column));
    loops_.counted(block.row, block.last_row, rows, {}, [&](Value* row, const Values&) {
      Tile tile{
          .row = row, .column = column, .rows = nullptr, .last_column = nullptr, .sums = nullptr};
      tile.rows = at_most(builder_.CreateSub(block.last_row, row), i64(rows));
      tile.last_column = at_most(builder_.CreateAdd(column, i64(columns)), block.last_column);
      Value* above = builder_.CreateMul(builder_.CreateSub(row, block.row), i64(bytes_of_row));
      tile.sums = builder_.CreateAdd(before, above);
      index_.open_level();
      body(tile);
      index_.close_level();
      return Values();
    });
    return Values();
  });
}

// Blocked along k. If k is empty there is still one block, which stores zeros.
void TileEmitter::emit_sums(const TiledContraction& contraction, const Block& block) {
  if (tiling_.integers_on_tiles) {
    index_.open_level();
    IntegerTilesEmitter(state_, target_, contraction)
        .emit(rows_of(contraction, block), {block.column, block.last_column});
    index_.close_level();
    return;
  }
  if (contraction.quantised) {
    QuantisedEmitter emitter(state_, target_, contraction);
    const QuantisedEmitter::Rows rows = rows_of(contraction, block);
    return for_each_tile(block, [&](const Tile& tile) {
      QuantisedEmitter::Rows of_tile =
          emitter.from_row(rows, builder_.CreateSub(tile.row, block.row));
      of_tile.count = tile.rows;
      emitter.emit(of_tile, {tile.column, tile.last_column},
                   in_scratch(contraction.sums, tile.sums));
    });
  }
  Value* length =
      builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, extent(contraction.k), i64(1));
  loops_.counted(i64(0), length, block_k(contraction), {}, [&](Value* k, const Values&) {
    if (contraction.made_of) make_panels(contraction, block, k);
    for_each_tile(block, [&](const Tile& tile) { emit_sum(contraction, block, tile, k); });
    return Values();
  });
}

int64_t TileEmitter::bytes_of_sum_row() const { return tiling_.block_columns * 4; }

// Windows are summed channel by channel.
int64_t TileEmitter::block_k(const TiledContraction& contraction) const {
  const int64_t period = contraction.windows ? contraction.windows->period() : 1;
  return std::max<int64_t>(1, tiling_.block_k / period) * period;
}

int64_t TileEmitter::bytes_of_element(const TiledFactor& factor) const {
  return is_half(factor.narrow) ? byte_size(factor.narrow, 1) : element_bytes(tiling_.multiply);
}

Value* TileEmitter::in_param(const TiledFactor& factor, Value* more) {
  Value* bytes = builder_.CreateMul(index_.scalar(factor.address), i64(bytes_of_element(factor)));
  return builder_.CreateGEP(builder_.getInt8Ty(), state_.params[factor.param],
                            builder_.CreateAdd(bytes, more));
}

// The left operand from `row` and `k` on.
RowOperand TileEmitter::left_operand(const TiledFactor& left, const Block& block, Value* row,
                                     Value* k) {
  Value* element = i64(element_bytes(tiling_.multiply));
  RowOperand rows;
  set_row(row);
  if (left.in_place) {
    rows.row_bytes = builder_.CreateMul(index_.scalar(left.step), element);
    rows.k_bytes = builder_.CreateMul(index_.scalar(left.k_step), element);
    rows.base = in_param(left, builder_.CreateMul(k, rows.k_bytes));
  } else {
    rows.row_bytes = index_.scalar(left.pitch);
    rows.k_bytes = element;
    Value* in_block = builder_.CreateMul(builder_.CreateSub(row, block.row), rows.row_bytes);
    rows.base =
        in_scratch(left.scratch, builder_.CreateAdd(in_block, builder_.CreateMul(k, element)));
  }
  unset_row();
  return rows;
}

QuantisedEmitter::Rows TileEmitter::rows_of(const TiledContraction& contraction,
                                            const Block& block) {
  const TiledQuantised& quantised = *contraction.quantised;
  index_.open_level();
  const RowOperand rows = left_operand(contraction.left, block, block.row, i64(0));
  index_.close_level();
  QuantisedEmitter::Rows result{.base = rows.base,
                                .row_bytes = rows.row_bytes,
                                .count = builder_.CreateSub(block.last_row, block.row),
                                .sums = in_scratch(quantised.row_sums, i64(0)),
                                .digits = nullptr,
                                .units = nullptr};
  if (quantised.fixed_point) {
    result.digits = in_scratch(quantised.digits, i64(0));
    result.units = in_scratch(quantised.units, i64(0));
  }
  return result;
}

void TileEmitter::prepare_rows(const TiledContraction& contraction, const Block& block) {
  index_.open_level();
  const QuantisedEmitter::Rows rows = rows_of(contraction, block);
  if (tiling_.integers_on_tiles) {
    IntegerTilesEmitter(state_, target_, contraction).prepare_rows(rows);
  } else {
    QuantisedEmitter(state_, target_, contraction).prepare_rows(rows);
  }
  index_.close_level();
}

void TileEmitter::emit_sum(const TiledContraction& contraction, const Block& block,
                           const Tile& tile, Value* k) {
  const RowOperand rows = left_operand(contraction.left, block, tile.row, k);
  Value* columns = builder_.CreateSub(tile.last_column, tile.column);
  Value* n_panels =
      builder_.CreateUDiv(builder_.CreateAdd(columns, i64(tiling_.lanes - 1)), i64(tiling_.lanes));
  Value* k_count = at_most(builder_.CreateSub(extent(contraction.k), k), i64(block_k(contraction)));
  set_row(tile.row);
  index_.set_loop(tiling_.column_loop, {tile.column});
  const PanelOperand right = contraction.windows
                                 ? window_operand(state_, tiling_, contraction, tile.column, k)
                                 : right_operand(contraction, block, tile, k);
  emit_micro_kernel(builder_, target_, tiling_.multiply, tiling_.shape, rows, right, tile.rows,
                    n_panels, k_count, in_scratch(contraction.sums, tile.sums),
                    builder_.CreateICmpNE(k, i64(0)),
                    tiling_.windows ? i64(bytes_of_sum_row()) : nullptr);
  index_.unset_loop(tiling_.column_loop);
  unset_row();
}

// The right operand from the tile's first column and `k` on.
PanelOperand TileEmitter::right_operand(const TiledContraction& contraction, const Block& block,
                                        const Tile& tile, Value* k) {
  const TiledFactor& right = contraction.right;
  Value* element = i64(bytes_of_element(right));
  Value* in_panel = builder_.CreateMul(k, builder_.CreateMul(element, i64(tiling_.lanes)));
  const bool asks = on_tiles(tiling_.multiply);
  PanelOperand panels;
  panels.narrow = right.narrow;
  // What isn't read in place has just been packed, so a cache holds it.
  const bool cached = !right.in_place && !asks;
  panels.prefetch_bytes = cached ? 0 : tiling_.prefetch_bytes;
  if (right.in_place) {
    panels.panel_bytes = builder_.CreateMul(index_.scalar(right.step), element);
    panels.base = in_param(right, in_panel);
    if (asks) panels.next = next_panels(panels, contraction, block, tile, k);
  } else {
    panels.panel_bytes = index_.scalar(right.pitch);
    Value* panel =
        builder_.CreateUDiv(builder_.CreateSub(tile.column, block.column), i64(tiling_.lanes));
    Value* before = builder_.CreateMul(panel, panels.panel_bytes);
    if (!contraction.made_of) before = builder_.CreateAdd(before, in_panel);
    panels.base = in_scratch(right.scratch, before);
    if (asks && contraction.made_of) panels.next = next_integers(contraction, block, tile, k);
  }
  return panels;
}

// What to prefetch: the panels that are read after this column of tiles, of which each of its tiles
// prefetches a share. These are the panels of the next column of tiles; after the block's last
// column, those of its first column in the next k block; after all of k, those of the next block.
PanelOperand::Next TileEmitter::next_panels(const PanelOperand& panels,
                                            const TiledContraction& contraction, const Block& block,
                                            const Tile& tile, Value* k) {
  const int64_t bytes_of_k = element_bytes(tiling_.multiply) * int64_t{tiling_.lanes};
  Value* beside = builder_.CreateMul(panels.panel_bytes, i64(tiling_.shape.panels));
  Value* panel =
      builder_.CreateUDiv(builder_.CreateSub(tile.column, block.column), i64(tiling_.lanes));
  Value* further = builder_.CreateSub(i64(tiling_.block_k * bytes_of_k),
                                      builder_.CreateMul(panel, panels.panel_bytes));
  Value* is_last = builder_.CreateICmpEQ(tile.last_column, block.last_column);
  Value* goes_on = builder_.CreateAnd(is_last, has_more(contraction, k));
  Value* base = builder_.CreatePtrAdd(panels.base, builder_.CreateSelect(goes_on, further, beside));
  return part_of({.base = base, .panel_bytes = panels.panel_bytes}, contraction, bytes_of_k, block,
                 tile, k);
}

// The same for panels that are dequantised: prefetches the integers of the next k block, or of the
// next block.
PanelOperand::Next TileEmitter::next_integers(const TiledContraction& contraction,
                                              const Block& block, const Tile& tile, Value* k) {
  const TiledIntegers& integers = contraction.made_of->integers.front();
  const int64_t n_bits = bits(integers.dtype);
  const int64_t bytes_of_k = tiling_.lanes * n_bits / 8;
  Value* panel_bytes =
      builder_.CreateLShr(builder_.CreateMul(index_.scalar(integers.step), i64(n_bits)), 3);
  Value* further = builder_.CreateMul(builder_.CreateAdd(k, i64(tiling_.block_k)), i64(bytes_of_k));
  Value* other = builder_.CreateMul(panel_bytes, i64(tiling_.block_columns / tiling_.lanes));
  Value* offset = builder_.CreateSelect(has_more(contraction, k), further, other);
  Value* base = builder_.CreatePtrAdd(integer_panel(state_, integers, 0), offset);
  return part_of({.base = base, .panel_bytes = panel_bytes}, contraction, bytes_of_k, block, tile,
                 k);
}

Value* TileEmitter::has_more(const TiledContraction& contraction, Value* k) {
  return builder_.CreateICmpSGT(builder_.CreateSub(extent(contraction.k), k), i64(tiling_.block_k));
}

// The share of the prefetch that one tile of a column of tiles does.
PanelOperand::Next TileEmitter::part_of(PanelOperand::Next next,
                                        const TiledContraction& contraction, int64_t bytes_of_k,
                                        const Block& block, const Tile& tile, Value* k) {
  const int64_t rows = tiling_.shape.rows;
  next.parts = static_cast<int>((tiling_.block_rows + rows - 1) / rows);
  next.bytes_of_step = bytes_of_k * (64 / element_bytes(tiling_.multiply));
  Value* length = at_most(builder_.CreateSub(extent(contraction.k), k), i64(tiling_.block_k));
  Value* number = builder_.CreateUDiv(builder_.CreateSub(tile.row, block.row), i64(rows));
  Value* before = builder_.CreateUDiv(
      builder_.CreateMul(builder_.CreateMul(length, i64(bytes_of_k)), number), i64(next.parts));
  next.base = builder_.CreatePtrAdd(next.base, before);
  return next;
}

// Computes the epilogue from the sums in a tile, row by row.
void TileEmitter::emit_epilogue(const Tile& tile) {
  const int64_t pitch = int64_t{tiling_.shape.panels} * tiling_.lanes * 4;
  loops_.counted(i64(0), tile.rows, 1, {}, [&](Value* r, const Values&) {
    Value* sums = builder_.CreateAdd(tile.sums, builder_.CreateMul(r, i64(pitch)));
    emit_epilogue_of_row(builder_.CreateAdd(tile.row, r), sums, tile.column, tile.last_column);
    return Values();
  });
}

// The same from all sums of a block of windows, row by row and line by line.
void TileEmitter::emit_epilogue_of_lines(const Block& block) {
  const WindowLines& windows = *tiling_.windows;
  loops_.counted(block.row, block.last_row, 1, {}, [&](Value* row, const Values&) {
    Value* above = builder_.CreateMul(builder_.CreateSub(row, block.row), i64(bytes_of_sum_row()));
    loops_.counted(i64(0), block.lines, 1, {}, [&](Value* line, const Values&) {
      Value* sums = builder_.CreateAdd(above, builder_.CreateMul(line, i64(windows.pitch * 4)));
      Value* this_line = builder_.CreateAdd(block.line, line);
      index_.open_level();
      index_.set_loop(windows.loop, {this_line});
      emit_epilogue_of_row(row, sums, i64(0), i64(windows.length));
      index_.unset_loop(windows.loop);
      index_.close_level();
      return Values();
    });
    return Values();
  });
}

// Vectorised along the columns.
void TileEmitter::emit_epilogue_of_row(Value* row, Value* sums, Value* column, Value* last_column) {
  const Expr position =
      kernel::index_of(tiling_.column_loop, state_.schedule.extents[tiling_.column_loop]);
  auto* vector =
      llvm::FixedVectorType::get(builder_.getFloatTy(), static_cast<unsigned>(tiling_.lanes));
  index_.open_level();
  set_row(row);
  const int level = index_.level();
  auto all_stages = [&](const Values&) {
    for (const TiledContraction& contraction : tiling_.contractions) {
      Values& values = state_.locals[contraction.stage];
      values.clear();
      for (int copy = 0; copy < index_.chunk().copies; ++copy) {
        Value* at = builder_.CreateSub(index_.scalar(position, copy), column);
        Value* bytes = builder_.CreateAdd(sums, builder_.CreateMul(at, i64(4)));
        Value* address = in_scratch(contraction.sums, bytes);
        values.push_back(builder_.CreateAlignedLoad(vector, address, llvm::Align(4)));
      }
    }
    for (kernel::StageId stage : tiling_.epilogue) emit_stage(stage, level);
    return Values();
  };
  loops_.chunked({tiling_.column_loop, column, last_column, tiling_.lanes, tiling_.shape.panels},
                 {}, all_stages);
  unset_row();
  index_.close_level();
}

}  // namespace luminal::backends::cpu
