#include "luminal/backends/cpu/math/integer_division.h"

#include <llvm/IR/Constants.h>

#include "luminal/backends/cpu/math/ir_builder.h"

namespace luminal::backends::cpu {
namespace {

using llvm::Value;

// The float type, of the same shape, in which dividing and truncating is exact: the relative
// distance of a non-integer quotient to the next integer is at least 1/|a|.
llvm::Type* exact_float(Builder& builder, llvm::Type* type) {
  llvm::Type* element =
      type->getScalarSizeInBits() <= 16 ? builder.getFloatTy() : builder.getDoubleTy();
  return type->getWithNewType(element);
}

// The quotient computed in floats; needs |a| < 2^24 (16-bit values) or 2^53 (indices, i32).
Value* float_quotient(Builder& builder, Value* a, Value* b, bool is_signed) {
  llvm::Type* type = a->getType();
  llvm::Type* real = exact_float(builder, type);
  Value* x = is_signed ? builder.CreateSIToFP(a, real) : builder.CreateUIToFP(a, real);
  Value* y = is_signed ? builder.CreateSIToFP(b, real) : builder.CreateUIToFP(b, real);
  Value* q = builder.CreateFDiv(x, y);
  return is_signed ? builder.CreateFPToSI(q, type) : builder.CreateFPToUI(q, type);
}

bool is_plain_constant(Value* b) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(b);
  if (constant == nullptr) return false;
  if (b->getType()->isVectorTy()) constant = constant->getSplatValue();
  auto* integer = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
  return integer != nullptr && !integer->isZero() && !integer->isMinusOne();
}

Quotient with_remainder(Builder& builder, Value* a, Value* b, Value* q) {
  return {q, builder.CreateSub(a, builder.CreateMul(q, b))};
}

// |a| below 2^53 is exact as a double, and so is the floor of its quotient: a non-integer quotient
// is at least 1/|b| away from the next integer. Up to 2^62 two divisions together are exact, and no
// quotient overflows 64 bits.
constexpr int kExactBits = 53;
constexpr int kRefinedBits = 62;

bool lies_within(Expr e, int bits) {
  const int64_t limit = int64_t{1} << bits;
  return e.lower_bound() > -limit && e.upper_bound() < limit;
}

bool may_be_minus_one(Expr e) { return e.lower_bound() <= -1 && e.upper_bound() >= -1; }

Quotient float_floor(Builder& builder, Value* a, Value* b) {
  llvm::Type* real = exact_float(builder, a->getType());
  Value* x = builder.CreateFDiv(builder.CreateSIToFP(a, real), builder.CreateSIToFP(b, real));
  Value* floor = builder.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x);
  return with_remainder(builder, a, b, builder.CreateFPToSI(floor, a->getType()));
}

// `may_trap`: a / b may be INT_MIN / −1, which traps.
Quotient integer_floor(Builder& builder, Value* a, Value* b, bool may_trap) {
  llvm::Type* type = a->getType();
  Value* zero = llvm::Constant::getNullValue(type);
  Value* q = nullptr;
  if (may_trap) {
    Value* negates = builder.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(type));
    Value* divisor = builder.CreateSelect(negates, llvm::ConstantInt::get(type, 1), b);
    q = builder.CreateSDiv(a, divisor);
    q = builder.CreateSelect(negates, builder.CreateNeg(a), q);
  } else {
    q = builder.CreateSDiv(a, b);
  }
  Value* r = builder.CreateSub(a, builder.CreateMul(q, b));
  // The truncated quotient is one too large if the signs of remainder and divisor differ.
  Value* off = builder.CreateAnd(builder.CreateICmpNE(r, zero),
                                 builder.CreateICmpSLT(builder.CreateXor(r, b), zero));
  return {builder.CreateSub(q, builder.CreateZExt(off, type)),
          builder.CreateAdd(r, builder.CreateSelect(off, b, zero))};
}

Quotient divide_floor_by_nonzero(Builder& builder, Value* a, Value* b, Expr e_a, Expr e_b) {
  llvm::Type* type = a->getType();
  const bool by_float =
      type->isVectorTy() && !(type->getScalarSizeInBits() == 32 && llvm::isa<llvm::Constant>(b));
  if (by_float && lies_within(e_a, kExactBits)) return float_floor(builder, a, b);
  if (by_float && lies_within(e_a, kRefinedBits) && lies_within(e_b, kExactBits - 1)) {
    // The remainder of the first division is at most |a| / 2^51 + |b|, so the second is exact.
    const Quotient first = float_floor(builder, a, b);
    const Quotient second = float_floor(builder, first.remainder, b);
    return {builder.CreateAdd(first.quotient, second.quotient), second.remainder};
  }
  if (e_a.lower_bound() >= 0 && e_b.lower_bound() >= 0) {
    return with_remainder(builder, a, b, builder.CreateUDiv(a, b));
  }
  return integer_floor(builder, a, b, e_a.lower_bound() == INT64_MIN && may_be_minus_one(e_b));
}

}  // namespace

Quotient divide_truncating(Builder& builder, Value* a, Value* b, bool is_signed) {
  llvm::Type* type = a->getType();
  auto quotient = [&](Value* divisor) {
    const bool exact = type->isVectorTy() && type->getScalarSizeInBits() <= 32 &&
                       !llvm::isa<llvm::Constant>(divisor);
    if (exact) return float_quotient(builder, a, divisor, is_signed);
    return is_signed ? builder.CreateSDiv(a, divisor) : builder.CreateUDiv(a, divisor);
  };
  if (is_plain_constant(b)) return with_remainder(builder, a, b, quotient(b));
  Value* zero = llvm::Constant::getNullValue(type);
  Value* one = llvm::ConstantInt::get(type, 1);
  Value* by_zero = builder.CreateICmpEQ(b, zero);
  Value* odd_one = by_zero;
  Value* by_minus_one = nullptr;
  if (is_signed) {
    by_minus_one = builder.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(type));
    odd_one = builder.CreateOr(by_zero, by_minus_one);
  }
  Value* divisor = builder.CreateSelect(odd_one, one, b);
  Value* q = quotient(divisor);
  Value* r = builder.CreateSub(a, builder.CreateMul(q, divisor));  // 0 if the divisor became 1
  if (is_signed) q = builder.CreateSelect(by_minus_one, builder.CreateSub(zero, a), q);
  return {builder.CreateSelect(by_zero, zero, q), builder.CreateSelect(by_zero, a, r)};
}

Quotient divide_floor(Builder& builder, Value* a, Value* b, Expr e_a, Expr e_b) {
  if (e_b.lower_bound() < 1 && e_b.upper_bound() >= 0) {
    Value* zero = llvm::Constant::getNullValue(a->getType());
    Value* by_zero = builder.CreateICmpEQ(b, zero);
    Value* divisor = builder.CreateSelect(by_zero, llvm::ConstantInt::get(a->getType(), 1), b);
    const Quotient found = divide_floor_by_nonzero(builder, a, divisor, e_a, e_b);
    return {builder.CreateSelect(by_zero, zero, found.quotient), found.remainder};
  }
  return divide_floor_by_nonzero(builder, a, b, e_a, e_b);
}

}  // namespace luminal::backends::cpu
