#include "luminal/backends/cpu/stage/emit_index.h"

#include <algorithm>

#include "luminal/backends/cpu/math/integer_division.h"
#include "luminal/base/check.h"

namespace luminal::backends::cpu {
namespace {

using llvm::Value;

// Whether e and all its subexpressions fit 32 bits, so that vectors of i32 suffice.
bool fits_i32(Expr e) {
  if (e.lower_bound() < INT32_MIN || e.upper_bound() > INT32_MAX) return false;
  return e.kind() == ExprKind::Index || std::ranges::all_of(e.operands(), fits_i32);
}

// The kinds that combine two or more operands, on scalars or vectors of one integer type.
Value* combine(Builder& builder, Expr e, const std::vector<Value*>& in) {
  llvm::Type* type = in[0]->getType();
  auto fold = [&](auto step) {
    Value* result = in[0];
    for (size_t k = 1; k < in.size(); ++k) result = step(result, in[k]);
    return result;
  };
  auto truth = [&](Value* x) {
    return builder.CreateICmpNE(x, llvm::Constant::getNullValue(type));
  };
  auto as_integer = [&](Value* bit) { return builder.CreateZExt(bit, type); };
  switch (e.kind()) {
    case ExprKind::Product:
      return fold([&](Value* a, Value* b) { return builder.CreateMul(a, b); });
    case ExprKind::FloorDiv:
      return divide_floor(builder, in[0], in[1], e.operands()[0], e.operands()[1]).quotient;
    case ExprKind::Mod:
      return divide_floor(builder, in[0], in[1], e.operands()[0], e.operands()[1]).remainder;
    case ExprKind::CeilDiv: {  // −⌊−a / b⌋
      Value* negated = builder.CreateNeg(in[0]);
      Expr e_negated = -e.operands()[0];
      return builder.CreateNeg(
          divide_floor(builder, negated, in[1], e_negated, e.operands()[1]).quotient);
    }
    case ExprKind::Min:
      return fold([&](Value* a, Value* b) {
        return builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
      });
    case ExprKind::Max:
      return fold([&](Value* a, Value* b) {
        return builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
      });
    case ExprKind::Less:
      return as_integer(builder.CreateICmpSLT(in[0], in[1]));
    case ExprKind::GreaterEqual:
      return as_integer(builder.CreateICmpSGE(in[0], in[1]));
    case ExprKind::And:
    case ExprKind::Or: {
      Value* result = truth(in[0]);
      for (size_t k = 1; k < in.size(); ++k) {
        result = e.kind() == ExprKind::And ? builder.CreateAnd(result, truth(in[k]))
                                           : builder.CreateOr(result, truth(in[k]));
      }
      return as_integer(result);
    }
    case ExprKind::Const:
    case ExprKind::Var:
    case ExprKind::Index:
    case ExprKind::Sum:
      break;
  }
  LUMINAL_CHECK(false, "no such combination of index expressions: " + e.text());
  return nullptr;
}

// x mod c for x at most one period outside of [0, c): a compare instead of a division.
Value* short_mod(Builder& builder, Expr e, Value* x) {
  Expr a = e.operands()[0];
  std::optional<int64_t> c = e.operands()[1].to_int();
  if (!c || *c <= 0) return nullptr;
  Value* period = llvm::ConstantInt::get(x->getType(), static_cast<uint64_t>(*c), true);
  Value* zero = llvm::Constant::getNullValue(x->getType());
  if (a.lower_bound() >= 0 && a.upper_bound() / 2 < *c) {
    return builder.CreateSelect(builder.CreateICmpSGE(x, period), builder.CreateSub(x, period), x);
  }
  if (a.lower_bound() >= -*c && a.upper_bound() < *c) {
    return builder.CreateSelect(builder.CreateICmpSLT(x, zero), builder.CreateAdd(x, period), x);
  }
  return nullptr;
}

}  // namespace

void IndexEmitter::open_level() {
  llvm::Function* function = builder_.GetInsertBlock()->getParent();
  auto* inside = llvm::BasicBlock::Create(builder_.getContext(), "", function);
  levels_.push_back({.anchor = builder_.CreateBr(inside), .known = {}});
  builder_.SetInsertPoint(inside);
}

void IndexEmitter::set_variable(Expr variable, Value* value) {
  variables_[std::string(variable.name())] = value;
}

void IndexEmitter::set_loop(kernel::LoopId loop, std::vector<Value*> positions) {
  loops_[loop] = {.level = level(), .positions = std::move(positions)};
}

int IndexEmitter::level_of(Expr e) const {
  int result = 0;
  for (const auto& [loop, index] : loops_) {
    if (index.level > result && uses_loop(e, loop)) result = index.level;
  }
  return result;
}

Value* IndexEmitter::scalar(Expr e, int copy) {
  if (!chunk_.loop.valid() || !uses_loop(e, chunk_.loop)) copy = 0;
  if (std::optional<int64_t> n = e.to_int()) {
    return builder_.getInt64(static_cast<uint64_t>(*n));
  }
  Level& level = levels_[level_of(e)];
  auto key = std::pair(e.id(), copy);
  if (auto found = level.known.find(key); found != level.known.end()) return found->second;
  Builder::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(level.anchor);
  Value* value = build_scalar(e, copy);
  levels_[level_of(e)].known[key] = value;
  return value;
}

Value* IndexEmitter::build_scalar(Expr e, int copy) {
  if (copy > 0 && e.kind() != ExprKind::Index) {
    LanePattern pattern = lane_pattern(e, chunk_.loop, chunk_.lanes);
    if (pattern.kind == LaneKind::Affine && pattern.across_chunks) {
      Value* distance = scalar(pattern.stride * Expr(copy * chunk_.lanes));
      return builder_.CreateAdd(scalar(e, 0), distance);
    }
  }
  switch (e.kind()) {
    case ExprKind::Const:
      break;
    case ExprKind::Var: {
      auto found = variables_.find(e.name());
      LUMINAL_CHECK(found != variables_.end(),
                    "the kernel doesn't list its variable " + std::string(e.name()));
      return found->second;
    }
    case ExprKind::Index: {
      auto found = loops_.find(kernel::loop_of(e));
      LUMINAL_CHECK(found != loops_.end(), "a loop index is used outside of its loop: " + e.text());
      const auto& positions = found->second.positions;
      return positions[std::min<size_t>(static_cast<size_t>(copy), positions.size() - 1)];
    }
    case ExprKind::Sum:
      return build_sum(e, copy);
    default:
      break;
  }
  std::vector<Value*> operands;
  for (Expr operand : e.operands()) operands.push_back(scalar(operand, copy));
  if (e.kind() == ExprKind::Mod) {
    if (Value* value = short_mod(builder_, e, operands[0])) return value;
  }
  return combine(builder_, e, operands);
}

// Hoists: the loop-invariant terms of each outer level are summed there.
Value* IndexEmitter::build_sum(Expr e, int copy) {
  std::map<int, std::vector<size_t>> by_level;
  for (size_t k = 0; k < e.operands().size(); ++k) {
    by_level[level_of(e.operands()[k])].push_back(k);
  }
  Value* sum = nullptr;
  for (const auto& [level, terms] : by_level) {
    Builder::InsertPointGuard guard(builder_);
    builder_.SetInsertPoint(levels_[level].anchor);
    for (size_t k : terms) {
      Value* term = scalar(e.operands()[k], copy);
      const int64_t coefficient = e.coefficients()[k];
      if (coefficient != 1) {
        term = builder_.CreateMul(term, builder_.getInt64(static_cast<uint64_t>(coefficient)));
      }
      sum = sum == nullptr ? term : builder_.CreateAdd(sum, term);
    }
  }
  if (e.constant_term() == 0) return sum;
  return builder_.CreateAdd(sum, builder_.getInt64(static_cast<uint64_t>(e.constant_term())));
}

LaneIndex IndexEmitter::lanes(Expr e, int copy) {
  LanePattern pattern;
  if (chunk_.loop.valid()) pattern = lane_pattern(e, chunk_.loop, chunk_.lanes);
  switch (pattern.kind) {
    case LaneKind::Uniform:
      return {.base = scalar(e, copy)};
    case LaneKind::Affine:
      return {.kind = LaneKind::Affine, .base = scalar(e, copy), .stride = scalar(pattern.stride)};
    case LaneKind::General:
      break;
  }
  llvm::Type* element = fits_i32(e) ? builder_.getInt32Ty() : builder_.getInt64Ty();
  Value* value = general(e, copy, element);
  auto* wide = llvm::FixedVectorType::get(builder_.getInt64Ty(), chunk_.lanes);
  return {.kind = LaneKind::General, .vector = builder_.CreateSExt(value, wide)};
}

Value* IndexEmitter::general(Expr e, int copy, llvm::Type* element) {
  LanePattern pattern = lane_pattern(e, chunk_.loop, chunk_.lanes);
  auto splat = [&](Value* value) {
    return builder_.CreateVectorSplat(chunk_.lanes, builder_.CreateTrunc(value, element));
  };
  if (pattern.kind != LaneKind::General) {
    Value* base = splat(scalar(e, copy));
    if (pattern.kind == LaneKind::Uniform) return base;
    Value* run = builder_.CreateMul(steps(element), splat(scalar(pattern.stride)));
    return builder_.CreateAdd(base, run);
  }
  auto constant = [&](int64_t value) {
    return llvm::ConstantInt::get(llvm::FixedVectorType::get(element, chunk_.lanes),
                                  static_cast<uint64_t>(value), true);
  };
  if (e.kind() == ExprKind::Sum) {
    Value* sum = constant(e.constant_term());
    for (size_t k = 0; k < e.operands().size(); ++k) {
      Value* term = general(e.operands()[k], copy, element);
      sum = builder_.CreateAdd(sum, builder_.CreateMul(term, constant(e.coefficients()[k])));
    }
    return sum;
  }
  std::vector<Value*> operands;
  for (Expr operand : e.operands()) operands.push_back(general(operand, copy, element));
  if (e.kind() == ExprKind::Mod) {
    if (Value* value = short_mod(builder_, e, operands[0])) return value;
  }
  return combine(builder_, e, operands);
}

Value* IndexEmitter::vector(const LaneIndex& index) {
  if (index.kind == LaneKind::General) return index.vector;
  Value* base = builder_.CreateVectorSplat(chunk_.lanes, index.base);
  if (index.kind == LaneKind::Uniform) return base;
  Value* stride = builder_.CreateVectorSplat(chunk_.lanes, index.stride);
  return builder_.CreateAdd(base, builder_.CreateMul(steps(builder_.getInt64Ty()), stride));
}

Value* IndexEmitter::steps(llvm::Type* element) {
  std::vector<llvm::Constant*> values;
  for (int k = 0; k < chunk_.lanes; ++k) {
    values.push_back(llvm::ConstantInt::get(element, static_cast<uint64_t>(k)));
  }
  return llvm::ConstantVector::get(values);
}

}  // namespace luminal::backends::cpu
