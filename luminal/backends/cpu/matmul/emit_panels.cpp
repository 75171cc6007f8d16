#include "luminal/backends/cpu/matmul/emit_panels.h"

#include "luminal/backends/cpu/schedule/tiling.h"

namespace luminal::backends::cpu {

using llvm::Value;

namespace {

// Transposes a square of words by swapping halves of ever larger blocks.
Values transposed(Builder& builder, Values rows) {
  const size_t n = rows.size();
  for (size_t step = 1; step < n; step *= 2) {
    std::vector<int> lower, upper;
    for (size_t lane = 0; lane < n; ++lane) {
      const bool second = (lane & step) != 0;
      lower.push_back(static_cast<int>(second ? n + lane - step : lane));
      upper.push_back(static_cast<int>(second ? n + lane : lane + step));
    }
    for (size_t row = 0; row < n; ++row) {
      if ((row & step) != 0) continue;
      Value *a = rows[row], *b = rows[row + step];
      rows[row] = builder.CreateShuffleVector(a, b, lower);
      rows[row + step] = builder.CreateShuffleVector(a, b, upper);
    }
  }
  return rows;
}

}  // namespace

PanelCopier::PanelCopier(EmitState& state, const PanelSource& source)
    : state_(state),
      source_(source),
      builder_(state.builder),
      index_(state.index),
      loops_(state.loops),
      per_lane_(elements_per_lane(source.multiply)) {}

Value* PanelCopier::i64(int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); }

// The address in the panels of a column's word at k; both must be the first of their panel lane
// and word.
Value* PanelCopier::in_panels(Value* column, Value* k) {
  Value* panel = builder_.CreateUDiv(builder_.CreateSub(column, first_), i64(source_.lanes));
  Value* before = builder_.CreateMul(panel, index_.scalar(source_.panel_pitch));
  Value* word = builder_.CreateUDiv(k, i64(per_lane_));
  Value* at = builder_.CreateAdd(before, builder_.CreateMul(word, i64(int64_t{source_.lanes} * 4)));
  at = builder_.CreateAdd(at, index_.scalar(source_.panels));
  return builder_.CreateGEP(builder_.getInt8Ty(), state_.scratch, at);
}

// The load of a factor that is contiguous along k but not along columns, so that words are copied
// unchanged and transposed. None if the factor is anything else.
kernel::InstId PanelCopier::turned_load() const {
  const ScheduledStage& stage = state_.schedule.stages[source_.stage];
  const kernel::InstId id = plain_load(*stage.source, source_.multiply);
  if (!id.valid()) return {};
  const kernel::Inst& inst = stage.source->body[id.index()];
  const kernel::ParamId param = std::get<kernel::LoadInst>(inst.what).param;
  if (state_.has_elements[param] != nullptr) return {};
  const DType wanted = source_.multiply == Multiply::F32 ? DType::F32 : DType::BF16;
  if (inst.dtype != wanted) return {};
  const Expr address = stage.access[id.index()].address;
  const LanePattern along_k = lane_pattern(address, source_.k, 1);
  const LanePattern across = lane_pattern(address, source_.column, 1);
  const bool fits = along_k.kind == LaneKind::Affine && along_k.across_chunks &&
                    along_k.stride.is(1) && across.kind == LaneKind::Affine && across.across_chunks;
  return fits ? id : kernel::InstId();
}

void PanelCopier::emit(Range columns, Range k, Value* first) {
  first_ = first;
  const kernel::InstId load = turned_load();
  if (!load.valid()) return copy(k, columns);
  // Transposes whole squares; the remainder is copied element by element.
  auto whole = [&](Range range, int64_t step) {
    Value* count = builder_.CreateSub(range.to, range.from);
    return builder_.CreateAdd(range.from, builder_.CreateAnd(count, i64(-step)));
  };
  Value* whole_k = whole(k, int64_t{source_.lanes} * per_lane_);
  Value* whole_columns = whole(columns, source_.lanes);
  copy_turned(load, {k.from, whole_k}, {columns.from, whole_columns});
  loops_.guarded(builder_.CreateICmpNE(k.to, whole_k), [&] { copy({whole_k, k.to}, columns); });
  loops_.guarded(builder_.CreateICmpNE(columns.to, whole_columns),
                 [&] { copy({k.from, whole_k}, {whole_columns, columns.to}); });
}

// Copies element by element along k, vectorised along the columns. A lane of two elements is
// written twice: the second time with the upper half filled in.
void PanelCopier::copy(Range k_range, Range columns) {
  const auto lanes = static_cast<unsigned>(source_.lanes);
  const Expr column = kernel::index_of(source_.column, state_.schedule.extents[source_.column]);
  loops_.counted(k_range.from, k_range.to, 1, {}, [&](Value* k, const Values&) {
    index_.open_level();
    index_.set_loop(source_.k, {k});
    const int level = index_.level();
    Value* upper = builder_.CreateICmpNE(builder_.CreateURem(k, i64(per_lane_)), i64(0));
    loops_.chunked(
        {source_.column, columns.from, columns.to, source_.lanes, 1}, {}, [&](const Values&) {
          StageEmitter emitter(state_, source_.stage);
          emitter.emit_hoisted(level);
          emitter.emit();
          Value* value = state_.locals[source_.stage][0];
          if (!value->getType()->isVectorTy()) value = builder_.CreateVectorSplat(lanes, value);
          Value* address = in_panels(index_.scalar(column), k);
          if (per_lane_ == 1) {
            builder_.CreateAlignedStore(value, address, llvm::Align(4));
            return Values();
          }
          // A bf16 widened to f32 has its bits in the upper half, above 16 zeros.
          auto* words = llvm::FixedVectorType::get(builder_.getInt32Ty(), lanes);
          Value* bits = builder_.CreateBitCast(value, words);
          const Values pair = loops_.either(
              upper,
              [&] {
                Value* there = builder_.CreateAlignedLoad(words, address, llvm::Align(4));
                return Values{builder_.CreateOr(there, bits)};
              },
              [&] { return Values{builder_.CreateLShr(bits, 16)}; });
          builder_.CreateAlignedStore(pair[0], address, llvm::Align(4));
          return Values();
        });
    index_.unset_loop(source_.k);
    index_.close_level();
    return Values();
  });
}

// Copies squares of words, read along k, transposed, and written along columns.
void PanelCopier::copy_turned(kernel::InstId load, Range k_range, Range columns) {
  const ScheduledStage& stage = state_.schedule.stages[source_.stage];
  const Expr address = stage.access[load.index()].address;
  const auto& what = stage.source->body[load.index()].what;
  Value* base = state_.params[std::get<kernel::LoadInst>(what).param];
  const int64_t element = element_bytes(source_.multiply);
  auto* words =
      llvm::FixedVectorType::get(builder_.getInt32Ty(), static_cast<unsigned>(source_.lanes));
  loops_.counted(columns.from, columns.to, source_.lanes, {}, [&](Value* column, const Values&) {
    loops_.counted(
        k_range.from, k_range.to, int64_t{source_.lanes} * per_lane_, {},
        [&](Value* k, const Values&) {
          index_.open_level();
          index_.set_loop(source_.column, {column});
          index_.set_loop(source_.k, {k});
          Value* stride = index_.scalar(lane_pattern(address, source_.column, 1).stride);
          Values rows;
          for (int row = 0; row < source_.lanes; ++row) {
            Value* at =
                builder_.CreateAdd(index_.scalar(address), builder_.CreateMul(stride, i64(row)));
            Value* from = builder_.CreateGEP(builder_.getInt8Ty(), base,
                                             builder_.CreateMul(at, i64(element)));
            rows.push_back(builder_.CreateAlignedLoad(words, from,
                                                      llvm::Align(static_cast<uint64_t>(element))));
          }
          rows = transposed(builder_, rows);
          Value* to = in_panels(column, k);
          for (int row = 0; row < source_.lanes; ++row) {
            Value* at =
                builder_.CreateGEP(builder_.getInt8Ty(), to, i64(int64_t{row} * source_.lanes * 4));
            builder_.CreateAlignedStore(rows[static_cast<size_t>(row)], at, llvm::Align(4));
          }
          index_.unset_loop(source_.k);
          index_.unset_loop(source_.column);
          index_.close_level();
          return Values();
        });
    return Values();
  });
}

}  // namespace luminal::backends::cpu
