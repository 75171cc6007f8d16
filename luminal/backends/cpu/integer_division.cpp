#include "luminal/backends/cpu/integer_division.h"

#include <llvm/IR/Constants.h>

namespace luminal::backends::cpu {
namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;

// The float type of `a`'s shape in which a division of its values is exact after truncation: a
// quotient that isn't an integer is at least 1/|a| away from the next one, relatively.
llvm::Type* exact_float(Builder& builder, llvm::Type* type) {
  llvm::Type* element =
      type->getScalarSizeInBits() <= 16 ? builder.getFloatTy() : builder.getDoubleTy();
  return type->getWithNewType(element);
}

// The quotient by way of floats; |a| below 2^24 (16-bit values) or 2^53 (index values, i32).
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
  Value* r = builder.CreateSub(a, builder.CreateMul(q, divisor));  // 0 where the divisor became 1
  if (is_signed) q = builder.CreateSelect(by_minus_one, builder.CreateSub(zero, a), q);
  return {builder.CreateSelect(by_zero, zero, q), builder.CreateSelect(by_zero, a, r)};
}

Quotient divide_floor(Builder& builder, Value* a, Value* b, Expr e_a, Expr e_b) {
  llvm::Type* type = a->getType();
  Value* zero = llvm::Constant::getNullValue(type);
  Value* one = llvm::ConstantInt::get(type, 1);
  if (e_b.lower_bound() < 1 && e_b.upper_bound() >= 0) {
    b = builder.CreateSelect(builder.CreateICmpEQ(b, zero), one, b);
  }
  const bool non_negative = e_a.lower_bound() >= 0 && e_b.lower_bound() >= 0;
  const bool by_float =
      type->isVectorTy() && !(type->getScalarSizeInBits() == 32 && llvm::isa<llvm::Constant>(b));
  if (by_float) {
    llvm::Type* real = exact_float(builder, type);
    Value* x = builder.CreateFDiv(builder.CreateSIToFP(a, real), builder.CreateSIToFP(b, real));
    Value* floor = builder.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x);
    return with_remainder(builder, a, b, builder.CreateFPToSI(floor, type));
  }
  if (non_negative) return with_remainder(builder, a, b, builder.CreateUDiv(a, b));
  Value* q = builder.CreateSDiv(a, b);
  Value* r = builder.CreateSub(a, builder.CreateMul(q, b));
  // The quotient toward zero is one too large where the remainder has the other sign.
  Value* off = builder.CreateAnd(builder.CreateICmpNE(r, zero),
                                 builder.CreateICmpSLT(builder.CreateXor(r, b), zero));
  return {builder.CreateSub(q, builder.CreateZExt(off, type)),
          builder.CreateAdd(r, builder.CreateSelect(off, b, zero))};
}

}  // namespace luminal::backends::cpu
