// The instructions of a stage: their operands and addresses.
#include "luminal/backends/cpu/stage/emit_stage.h"
#include "luminal/base/check.h"
#include "luminal/kernel/recognise/panels.h"

namespace luminal::backends::cpu {
namespace {

using kernel::Inst;
using kernel::InstId;
using llvm::Value;

bool is_unit(Value* stride) {
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(stride);
  return constant != nullptr && (constant->isOne() || constant->isMinusOne());
}

}  // namespace

void StageEmitter::emit_instructions(int place) {
  Builder::InsertPointGuard guard(builder_);
  for (size_t k = 0; k < body_.size(); ++k) {
    if (place_[k] != place) continue;
    builder_.SetInsertPoint(index_.anchor(level_of(place)));
    values_[k].clear();
    splats_[k] = nullptr;
    const int copies = varies_[k] ? index_.chunk().copies : 1;
    for (int copy = 0; copy < copies; ++copy) values_[k].push_back(emit_instruction(k, copy));
    look_at_rows(k);
  }
}

Value* StageEmitter::emit_instruction(size_t k, int copy) {
  const Inst& inst = body_[k];
  auto across = [&](Value* value) {
    if (!varies_[k] || value->getType()->isVectorTy()) return value;
    return builder_.CreateVectorSplat(index_.chunk().lanes, value);
  };
  if (const auto* constant = std::get_if<kernel::ConstInst>(&inst.what)) {
    return state_.ops.constant(inst.dtype, *constant);
  }
  if (std::holds_alternative<kernel::IotaInst>(inst.what)) {
    if (holds_ && stage_.iota[k] == *holds_) {
      return across(state_.ops.from_index(inst.dtype, builder_.getInt64(1)));
    }
    LaneIndex at = index_.lanes(stage_.iota[k], copy);
    Value* index = varies_[k] ? index_.vector(at) : at.base;
    return across(state_.ops.from_index(inst.dtype, index));
  }
  if (const auto* load = std::get_if<kernel::LoadInst>(&inst.what)) {
    if (Value* masked = guarded_load(k, copy)) return masked;
    LaneIndex at = locate(stage_.access[k], copy, state_.has_elements[load->param]);
    const kernel::Param& param = schedule_.kernel->params[load->param];
    const bool whole_words = (n_elements(param.dims) % kernel::kU4PerWord).is(0);
    return across(state_.memory.load(param.dtype, MemoryForm::Tensor, state_.params[load->param],
                                     at, whole_words));
  }
  if (const auto* local = std::get_if<kernel::LocalInst>(&inst.what)) {
    const ScheduledStage& source = schedule_.stages[local->stage];
    if (!source.in_memory) {
      const Values& values = state_.locals[local->stage];
      return across(values[std::min<size_t>(static_cast<size_t>(copy), values.size() - 1)]);
    }
    LaneIndex at = in_local_buffer(locate(stage_.access[k], copy, nullptr), copy);
    Value* base = builder_.CreateGEP(builder_.getInt8Ty(), state_.scratch,
                                     index_.scalar(source.local_offset));
    return across(state_.memory.load(inst.dtype, MemoryForm::Local, base, at));
  }
  const auto& op = std::get<kernel::OpInst>(inst.what);
  if (state_.options.contract && unrounded_.adds[k]) {
    const FusedAdd& add = *unrounded_.adds[k];
    return multiply_add(add.product, operand(add.rest, copy, varies_[k]), copy, varies_[k]);
  }
  std::vector<Value*> operands;
  for (InstId id : op.operands) operands.push_back(operand(id, copy, varies_[k]));
  const bool unrounded = state_.options.contract && unrounded_.unrounded[k];
  return state_.ops.apply(op.op, body_[op.operands.back().index()].dtype,
                          unrounded ? DType::F32 : inst.dtype, operands);
}

// Reads lanes where the guard holds, at the simpler address; null where that gains nothing.
Value* StageEmitter::guarded_load(size_t k, int copy) {
  const Access& access = stage_.access[k];
  const kernel::ParamId param = std::get<kernel::LoadInst>(body_[k].what).param;
  const DType dtype = schedule_.kernel->params[param].dtype;
  if (!access.guard.valid() || !varies_[k] || dtype == DType::U4) return nullptr;
  const LaneIndex at = index_.lanes(access.guarded, copy);
  if (at.kind != LaneKind::Affine) return nullptr;
  return state_.memory.load_where(operand(access.guard, copy, true), dtype, state_.params[param],
                                  at);
}

Value* StageEmitter::multiply_add(const Product& product, Value* sum, int copy, bool as_vector) {
  Value* a = operand(product.a, copy, as_vector);
  Value* b = operand(product.b, copy, as_vector);
  if (product.negative) a = builder_.CreateFNeg(a);
  return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, sum});
}

// The value of an instruction in one copy; scalars are broadcast if a vector is needed.
Value* StageEmitter::operand(InstId id, int copy, bool as_vector) {
  const size_t k = id.index();
  if (varies_[k]) return values_[k][static_cast<size_t>(copy)];
  Value* scalar = values_[k][0];
  if (!as_vector) return scalar;
  if (splats_[k] == nullptr) {
    Builder::InsertPointGuard guard(builder_);
    builder_.SetInsertPoint(index_.anchor(level_of(place_[k])));
    splats_[k] = builder_.CreateVectorSplat(stage_.lanes, scalar);
  }
  return splats_[k];
}

LaneIndex StageEmitter::locate(const Access& access, int copy, Value* has_elements) {
  LaneIndex at = index_.lanes(access.address, copy);
  auto add = [&](Value* offset) {  // a scalar or a vector
    if (offset->getType()->isVectorTy() || at.kind == LaneKind::General) {
      if (!offset->getType()->isVectorTy()) {
        offset = builder_.CreateVectorSplat(index_.chunk().lanes, offset);
      }
      at = {.kind = LaneKind::General, .vector = builder_.CreateAdd(index_.vector(at), offset)};
    } else {
      at.base = builder_.CreateAdd(at.base, offset);
    }
  };
  for (const Access::Gathered& gathered : access.gathered) {
    Value* value = row_inside(gathered.value, gathered.extent, copy);
    value = builder_.CreateSExt(value, value->getType()->getWithNewType(builder_.getInt64Ty()));
    Value* stride = index_.scalar(gathered.stride, copy);
    if (value->getType()->isVectorTy()) {
      stride = builder_.CreateVectorSplat(index_.chunk().lanes, stride);
    }
    add(builder_.CreateMul(value, stride));
  }
  if (has_elements != nullptr) {
    if (at.kind == LaneKind::General) {
      Value* mask = builder_.CreateVectorSplat(index_.chunk().lanes, has_elements);
      at.vector = builder_.CreateAnd(at.vector, mask);
    } else {
      at.base = builder_.CreateAnd(at.base, has_elements);
      // A contiguous vector at address 0 fits into the spare bytes; a larger stride may not.
      if (at.kind == LaneKind::Affine && !is_unit(at.stride)) {
        at.stride = builder_.CreateAnd(at.stride, has_elements);
      }
    }
  }
  return at;
}

// An instruction's value as an index along a dim: in 32 bits if both the value and the extent fit,
// so that twice as many lanes fit in a register.
Value* StageEmitter::row_at(InstId id, Expr extent, int copy) {
  if (const auto* op = std::get_if<kernel::OpInst>(&body_[id.index()].what)) {
    const bool widens = op->op == Op::Cast && body_[op->operands[0].index()].dtype == DType::I32 &&
                        body_[id.index()].dtype == DType::I64;
    if (widens) id = op->operands[0];
  }
  const DType dtype = body_[id.index()].dtype;
  const bool narrow = dtype == DType::I32 && extent.upper_bound() <= INT32_MAX;
  llvm::Type* type = narrow ? builder_.getInt32Ty() : builder_.getInt64Ty();
  Value* value = operand(id, copy, false);
  return builder_.CreateIntCast(value, value->getType()->getWithNewType(type), !is_unsigned(dtype));
}

// Clamps to 0 … extent − 1.
Value* StageEmitter::nearest_row(Value* row, Expr extent, int copy) {
  Value* last =
      builder_.CreateTrunc(index_.scalar(extent - Expr(1), copy), row->getType()->getScalarType());
  if (row->getType()->isVectorTy()) {
    last = builder_.CreateVectorSplat(index_.chunk().lanes, last);
  }
  Value* below = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, row, last);
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, below,
                                        llvm::Constant::getNullValue(row->getType()));
}

Value* StageEmitter::row_inside(InstId id, Expr extent, int copy) {
  const size_t k = id.index();
  const auto looked = std::ranges::find(looked_along_[k], extent);
  if (looked != looked_along_[k].end()) {
    const auto at = static_cast<size_t>(looked - looked_along_[k].begin());
    if (Value* row = rows_inside_[k][at]) return row;
  }
  return nearest_row(row_at(id, extent, copy), extent, copy);
}

// A scalar index is checked by a branch, which also gives the row to read. For a vector, the XOR of
// index and clamped index is non-zero in lanes that are out of range.
void StageEmitter::look_at_rows(size_t k) {
  if (looked_along_[k].empty()) return;
  // Hoisted instructions are emitted once for both whole and masked chunks.
  const auto [hoisted, first] = state_.rows_inside.try_emplace({id_, k});
  if (place_[k] == kHoisted && !first) {
    rows_inside_[k] = hoisted->second;
    return;
  }
  rows_inside_[k].clear();
  for (Expr extent : looked_along_[k]) {
    Value* inside = nullptr;
    for (size_t copy = 0; copy < values_[k].size(); ++copy) {
      Value* row = row_at(InstId::at(k), extent, static_cast<int>(copy));
      if (!row->getType()->isVectorTy()) {
        Value* rows = builder_.CreateTrunc(index_.scalar(extent), row->getType());
        inside = state_.strays.inside(row, rows);
        continue;
      }
      Value* off = builder_.CreateXor(row, nearest_row(row, extent, static_cast<int>(copy)));
      if (Value* mask = index_.chunk().mask) {
        off = builder_.CreateSelect(mask, off, llvm::Constant::getNullValue(off->getType()));
      }
      state_.strays.collect(off);
      if (!may_be_zero(extent)) continue;
      // Without any rows clamping can't give one, so the extent is checked too.
      state_.strays.inside(builder_.getInt64(0), index_.scalar(extent));
    }
    rows_inside_[k].push_back(inside);
  }
  hoisted->second = rows_inside_[k];
}

// If the outer loop is vectorised, every element of a buffer is one vector per copy.
LaneIndex StageEmitter::in_local_buffer(const LaneIndex& at, int copy) {
  if (!schedule_.vector_outer) return at;
  Value* size = builder_.getInt64(static_cast<uint64_t>(schedule_.lanes * schedule_.unroll));
  Value* start = builder_.getInt64(static_cast<uint64_t>(copy * schedule_.lanes));
  if (at.kind == LaneKind::Uniform) {
    return {.kind = LaneKind::Affine,
            .base = builder_.CreateAdd(builder_.CreateMul(at.base, size), start),
            .stride = builder_.getInt64(1)};
  }
  auto splat = [&](Value* value) {
    return builder_.CreateVectorSplat(static_cast<unsigned>(schedule_.lanes), value);
  };
  Value* vector = builder_.CreateMul(index_.vector(at), splat(size));
  vector = builder_.CreateAdd(
      vector, builder_.CreateAdd(splat(start), index_.steps(builder_.getInt64Ty())));
  return {.kind = LaneKind::General, .vector = vector};
}

}  // namespace luminal::backends::cpu
