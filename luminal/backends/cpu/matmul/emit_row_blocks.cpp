#include "luminal/backends/cpu/matmul/emit_row_blocks.h"

#include <algorithm>

#include "luminal/backends/cpu/matmul/emit_panels.h"
#include "luminal/backends/cpu/micro/emit_parts.h"
#include "luminal/backends/cpu/micro/micro_kernel.h"

namespace luminal::backends::cpu {

using llvm::Value;

namespace {

// Fewer rows than this run one by one: packing the shared factors would take longer.
constexpr int64_t kFewRows = 4;

}  // namespace

RowBlockEmitter::RowBlockEmitter(EmitState& state, const Target& target)
    : state_(state),
      blocks_(*state.schedule.row_blocks),
      target_(target),
      builder_(state.builder),
      index_(state.index),
      loops_(state.loops) {}

Value* RowBlockEmitter::i64(int64_t value) {
  return builder_.getInt64(static_cast<uint64_t>(value));
}

Value* RowBlockEmitter::smallest(Value* a, Value* b) {
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
}

Value* RowBlockEmitter::largest(Value* a, Value* b) {
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
}

Value* RowBlockEmitter::extent(kernel::LoopId loop) {
  return index_.scalar(state_.schedule.extents[loop]);
}

Expr RowBlockEmitter::index_of(kernel::LoopId loop) const {
  return kernel::index_of(loop, state_.schedule.extents[loop]);
}

EmitState::Range RowBlockEmitter::range(kernel::LoopId loop) {
  const auto part = state_.ranges.find(loop);
  if (part != state_.ranges.end()) return part->second;
  return {i64(0), extent(loop)};
}

Value* RowBlockEmitter::in_scratch(Value* offset) {
  return builder_.CreateGEP(builder_.getInt8Ty(), state_.scratch, offset);
}

void RowBlockEmitter::emit(Value* first, Value* last) {
  const BlockedContraction* on_amx = nullptr;
  for (const BlockedContraction& contraction : blocks_.contractions) {
    if (on_tiles(contraction.multiply)) on_amx = &contraction;
  }
  if (on_amx != nullptr) {
    emit_micro_kernel_setup(builder_, target_, on_amx->multiply, on_amx->shape);
  }
  Value* few = builder_.CreateICmpSLT(extent(blocks_.row_loop), i64(kFewRows));
  loops_.counted(first, last, 1, {}, [&](Value* number, const Values&) {
    Value* row_block = nullptr;
    const Block block = find_block(number, row_block);
    // Consecutive blocks of rows read the same panels: only the first one packs them.
    Value* others_panels = builder_.CreateOr(builder_.CreateICmpEQ(number, first),
                                             builder_.CreateICmpEQ(row_block, i64(0)));
    if (blocks_.masked) find_range(block);
    loops_.either(
        few,
        [&] {
          emit_row_steps(block, 0, blocks_.steps.size(), true);
          return Values();
        },
        [&] {
          loops_.guarded(others_panels, [&] { copy_panels(); });
          emit_block(block);
          return Values();
        });
    state_.ranges.clear();
    for (kernel::LoopId loop : blocks_.others) index_.unset_loop(loop);
    index_.close_level();
    return Values();
  });
  if (on_amx != nullptr) emit_micro_kernel_release(builder_, on_amx->multiply);
}

// Opens the level of the block and sets the indices of its other outer loops.
RowBlockEmitter::Block RowBlockEmitter::find_block(Value* number, Value*& row_block) {
  Value* rest = number;
  auto take = [&](Value* count) {
    Value* index = builder_.CreateURem(rest, count);
    rest = builder_.CreateUDiv(rest, count);
    return index;
  };
  row_block = take(index_.scalar(blocks_.blocks));
  Values indices(blocks_.others.size());
  for (size_t k = indices.size(); k-- > 0;) indices[k] = take(extent(blocks_.others[k]));
  Block block;
  block.row = builder_.CreateMul(row_block, i64(blocks_.rows));
  block.last_row =
      smallest(builder_.CreateAdd(block.row, i64(blocks_.rows)), extent(blocks_.row_loop));
  index_.open_level();
  for (size_t k = 0; k < indices.size(); ++k) index_.set_loop(blocks_.others[k], {indices[k]});
  return block;
}

// Packs all shared factors, except for elements that the mask hides from every row.
void RowBlockEmitter::copy_panels() {
  EmitState::Range counts = {};
  if (blocks_.masked) counts = counting({i64(0), extent(blocks_.row_loop)});
  auto needed = [&](kernel::LoopId loop) -> PanelCopier::Range {
    const bool masked = blocks_.masked && std::ranges::count(blocks_.masked->loops, loop) > 0;
    return masked ? PanelCopier::Range{counts.from, counts.to}
                  : PanelCopier::Range{i64(0), extent(loop)};
  };
  for (const BlockedContraction& contraction : blocks_.contractions) {
    const PanelSource source{.stage = contraction.right,
                             .column = contraction.column,
                             .k = contraction.k,
                             .multiply = contraction.multiply,
                             .lanes = target_.vector_bytes / 4,
                             .panels = contraction.panels,
                             .panel_pitch = contraction.panel_pitch};
    PanelCopier(state_, source).emit(needed(contraction.column), needed(contraction.k), i64(0));
  }
}

Value* RowBlockEmitter::at_row(Expr e, Value* row) {
  index_.open_level();
  index_.set_loop(blocks_.row_loop, {row});
  Value* value = index_.scalar(e);
  index_.unset_loop(blocks_.row_loop);
  index_.close_level();
  return value;
}

Value* RowBlockEmitter::least(const kernel::MaskedRange::Bound& bound, const Block& rows) {
  return at_row(bound.index, bound.grows ? rows.row : builder_.CreateSub(rows.last_row, i64(1)));
}

Value* RowBlockEmitter::greatest(const kernel::MaskedRange::Bound& bound, const Block& rows) {
  return at_row(bound.index, bound.grows ? builder_.CreateSub(rows.last_row, i64(1)) : rows.row);
}

// The range that the mask leaves to any of the rows, rounded to kRangeStep, with at least one step
// per row: so the range of a subset of rows lies within that of all.
EmitState::Range RowBlockEmitter::counting(const Block& rows) {
  const kernel::MaskedRange& masked = *blocks_.masked;
  Value* all = extent(masked.loops.front());
  Value *from = i64(0), *to = all, *least_to = all;
  for (const auto& bound : masked.last) {
    to = smallest(to, builder_.CreateAdd(greatest(bound, rows), i64(1)));
    least_to = smallest(least_to, builder_.CreateAdd(least(bound, rows), i64(1)));
  }
  to = smallest(largest(to, i64(1)), all);
  for (const auto& bound : masked.first) from = largest(from, least(bound, rows));
  from = largest(smallest(from, builder_.CreateSub(least_to, i64(1))), i64(0));
  constexpr int64_t kStep = EmitState::kRangeStep;
  from = builder_.CreateAnd(from, i64(-kStep));
  to = builder_.CreateAnd(builder_.CreateAdd(to, i64(kStep - 1)), i64(-kStep));
  return {from, smallest(to, all)};
}

// Restricts the loops over keys to the range that the mask leaves to the block.
void RowBlockEmitter::find_range(const Block& block) {
  const kernel::MaskedRange& masked = *blocks_.masked;
  const EmitState::Range counts = counting(block);
  // `shown` is the end of the keys that no row masks: before it the mask needn't be evaluated.
  Value* shown = nullptr;
  if (masked.first.empty() && masked.decides) {
    shown = counts.to;
    for (const auto& bound : masked.last) {
      shown = smallest(shown, builder_.CreateAdd(least(bound, block), i64(1)));
    }
    shown = builder_.CreateAnd(largest(shown, counts.from), i64(-EmitState::kRangeStep));
  }
  for (kernel::LoopId loop : masked.loops) {
    const Expr mask = masked.mask.substitute(index_of(masked.mask_loop), index_of(loop));
    state_.ranges[loop] = {counts.from, counts.to, shown, mask};
  }
}

void RowBlockEmitter::for_each_row(const Block& block,
                                   const std::function<void(Value* row)>& body) {
  loops_.counted(block.row, block.last_row, 1, {}, [&](Value* row, const Values&) {
    index_.open_level();
    index_.set_loop(blocks_.row_loop, {row});
    body(row);
    index_.unset_loop(blocks_.row_loop);
    index_.close_level();
    return Values();
  });
}

void RowBlockEmitter::emit_row_steps(const Block& block, size_t from, size_t to,
                                     bool contractions) {
  if (from == to) return;
  for_each_row(block, [&](Value*) {
    for (size_t k = from; k < to; ++k) {
      const RowBlocks::Step& step = blocks_.steps[k];
      if (contractions || step.contraction < 0) StageEmitter(state_, step.stage).emit();
    }
  });
}

// Stages between two contractions run row by row, all of them on one row before the next.
void RowBlockEmitter::emit_block(const Block& block) {
  size_t from = 0;
  for (size_t k = 0; k < blocks_.steps.size(); ++k) {
    const RowBlocks::Step& step = blocks_.steps[k];
    if (step.contraction < 0) continue;
    emit_row_steps(block, from, k, false);
    emit_contraction(blocks_.contractions[static_cast<size_t>(step.contraction)], block);
    from = k + 1;
  }
  emit_row_steps(block, from, blocks_.steps.size(), false);
}

// Copies a range of k of the left factor, row by row, vectorised along k. The 16-bit halves of two
// vectors fill one.
void RowBlockEmitter::copy_rows(const BlockedContraction& contraction, const Block& block,
                                EmitState::Range k) {
  const int lanes = target_.vector_bytes / 4;
  const int at_once = contraction.multiply == Multiply::F32 ? 1 : 2;
  const Expr position = index_of(contraction.k);
  for_each_row(block, [&](Value* row) {
    Value* in_block = builder_.CreateMul(builder_.CreateSub(row, block.row),
                                         index_.scalar(contraction.row_pitch));
    Value* start = builder_.CreateAdd(index_.scalar(contraction.rows), in_block);
    loops_.chunked({contraction.k, k.from, k.to, lanes, at_once}, {}, [&](const Values&) {
      StageEmitter(state_, contraction.left).emit();
      Values values = state_.locals[contraction.left];
      values.resize(static_cast<size_t>(index_.chunk().copies), values.back());
      for (Value*& value : values) {
        if (value->getType()->isVectorTy()) continue;
        value = builder_.CreateVectorSplat(static_cast<unsigned>(lanes), value);
      }
      Value* in_row = builder_.CreateMul(builder_.CreateSub(index_.scalar(position), k.from),
                                         i64(element_bytes(contraction.multiply)));
      store_parts(contraction, values, builder_.CreateAdd(start, in_row));
      return Values();
    });
  });
}

// Stores vectors of f32 as micro kernels read them: unchanged, or split into bf16 terms.
void RowBlockEmitter::store_parts(const BlockedContraction& contraction, Values values, Value* at) {
  if (contraction.multiply == Multiply::F32) {
    builder_.CreateAlignedStore(values[0], in_scratch(at), llvm::Align(4));
    return;
  }
  Value* plane = builder_.CreateMul(index_.scalar(contraction.row_pitch), i64(blocks_.rows));
  for (Value* part : bf16_parts(builder_, values, {.count = contraction.parts})) {
    builder_.CreateAlignedStore(part, in_scratch(at), llvm::Align(2));
    at = builder_.CreateAdd(at, plane);
  }
}

// Blocked along k. If k is empty there is still one block, which stores zeros.
void RowBlockEmitter::emit_contraction(const BlockedContraction& contraction, const Block& block) {
  const EmitState::Range k = range(contraction.k), columns = range(contraction.column);
  const int64_t width = int64_t{contraction.shape.panels} * (target_.vector_bytes / 4);
  Value* last_k = largest(k.to, builder_.CreateAdd(k.from, i64(1)));
  loops_.counted(k.from, last_k, contraction.block_k, {}, [&](Value* part_k, const Values&) {
    if (contraction.place == RowPlace::Scratch) {
      Value* end = smallest(builder_.CreateAdd(part_k, i64(contraction.block_k)), k.to);
      copy_rows(contraction, block, {part_k, end});
    }
    loops_.counted(columns.from, columns.to, width, {}, [&](Value* column, const Values&) {
      loops_.counted(block.row, block.last_row, contraction.shape.rows, {},
                     [&](Value* row, const Values&) {
                       index_.open_level();
                       index_.set_loop(blocks_.row_loop, {row});
                       emit_sum(contraction, block, row, column, part_k);
                       index_.unset_loop(blocks_.row_loop);
                       index_.close_level();
                       return Values();
                     });
      return Values();
    });
    return Values();
  });
}

// The buffer of a stage at the current row.
Value* RowBlockEmitter::buffer(kernel::StageId stage, Value* more) {
  const Expr offset = state_.schedule.stages[stage].local_offset;
  return in_scratch(builder_.CreateAdd(index_.scalar(offset), more));
}

void RowBlockEmitter::emit_sum(const BlockedContraction& contraction, const Block& block,
                               Value* row, Value* column, Value* k) {
  const int lanes = target_.vector_bytes / 4;
  const EmitState::Range ks = range(contraction.k), columns = range(contraction.column);
  Value* element = i64(element_bytes(contraction.multiply));
  RowOperand rows{.base = nullptr, .row_bytes = nullptr, .k_bytes = element};
  switch (contraction.place) {
    case RowPlace::Param: {
      rows.row_bytes = builder_.CreateMul(index_.scalar(contraction.row_step), element);
      rows.k_bytes = builder_.CreateMul(index_.scalar(contraction.k_step), element);
      Value* bytes = builder_.CreateMul(index_.scalar(contraction.address), element);
      bytes = builder_.CreateAdd(bytes, builder_.CreateMul(k, rows.k_bytes));
      rows.base = builder_.CreateGEP(builder_.getInt8Ty(), state_.params[contraction.param], bytes);
      break;
    }
    case RowPlace::Local:
      rows.row_bytes = index_.scalar(blocks_.pitch[contraction.local]);
      rows.base = buffer(contraction.local, builder_.CreateMul(k, element));
      break;
    case RowPlace::Scratch: {
      rows.row_bytes = index_.scalar(contraction.row_pitch);
      Value* bytes = builder_.CreateMul(builder_.CreateSub(row, block.row), rows.row_bytes);
      rows.parts = contraction.parts;
      rows.part_bytes = builder_.CreateMul(rows.row_bytes, i64(blocks_.rows));
      rows.base = in_scratch(builder_.CreateAdd(index_.scalar(contraction.rows), bytes));
      break;
    }
  }
  PanelOperand panels;
  panels.panel_bytes = index_.scalar(contraction.panel_pitch);
  if (!on_tiles(contraction.multiply)) panels.prefetch_bytes = 0;  // a cache holds them
  Value* before = builder_.CreateMul(builder_.CreateUDiv(column, i64(lanes)), panels.panel_bytes);
  before =
      builder_.CreateAdd(before, builder_.CreateMul(k, builder_.CreateMul(element, i64(lanes))));
  panels.base = in_scratch(builder_.CreateAdd(index_.scalar(contraction.panels), before));

  const MicroShape shape = contraction.shape;
  Value* n_rows = smallest(builder_.CreateSub(block.last_row, row), i64(shape.rows));
  Value* n_panels = builder_.CreateUDiv(
      builder_.CreateAdd(builder_.CreateSub(columns.to, column), i64(lanes - 1)), i64(lanes));
  Value* n_k = smallest(builder_.CreateSub(ks.to, k), i64(contraction.block_k));
  Value* adds = builder_.CreateICmpNE(k, ks.from);
  emit_micro_kernel(builder_, target_, contraction.multiply, shape, rows, panels, n_rows,
                    smallest(n_panels, i64(shape.panels)), n_k,
                    buffer(contraction.stage, builder_.CreateMul(column, i64(4))), adds,
                    index_.scalar(blocks_.pitch[contraction.stage]));
}

}  // namespace luminal::backends::cpu
