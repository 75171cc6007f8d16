#include "luminal/backends/cpu/math/emit_ops.h"

#include <llvm/IR/IntrinsicsX86.h>

#include "luminal/backends/cpu/math/integer_division.h"
#include "luminal/backends/cpu/math/rare_lanes.h"
#include "luminal/backends/cpu/math/shared_math.h"
#include "luminal/base/check.h"
#include "luminal/graph/op_subsets.h"
#include "luminal/shape/scalar.h"

namespace luminal::backends::cpu {
namespace {

using llvm::Value;

llvm::Type* with_element(Value* like, llvm::Type* element) {
  return like->getType()->getWithNewType(element);
}

}  // namespace

llvm::Type* register_type(llvm::LLVMContext& context, DType dtype) {
  switch (kind(dtype)) {
    case DTypeKind::Float:
      return dtype == DType::F64 ? llvm::Type::getDoubleTy(context)
                                 : llvm::Type::getFloatTy(context);
    case DTypeKind::Int:
      return llvm::Type::getIntNTy(context, static_cast<unsigned>(bits(dtype)));
    case DTypeKind::Bool:
      return llvm::Type::getInt1Ty(context);
    case DTypeKind::Packed:
      return llvm::Type::getInt8Ty(context);
  }
  return nullptr;
}

Value* OpEmitter::apply(Op op, DType from, DType to, llvm::ArrayRef<Value*> operands) {
  if (op == Op::Select) return builder_.CreateSelect(operands[0], operands[1], operands[2]);
  if (op == Op::Bitcast) return bitcast(from, to, operands[0]);
  if (op == Op::Cast) return cast(from, to, operands[0]);
  if (!is_float(from)) return on_integers(op, from, operands);
  Value* result = on_floats(op, operands);
  return is_half(to) ? round(to, result) : result;
}

Value* OpEmitter::transcendental(Op op, llvm::ArrayRef<Value*> in) {
  llvm::Type* type = in[0]->getType();
  if (share_ && type->getScalarType()->isFloatTy()) {
    llvm::Module& module = *builder_.GetInsertBlock()->getModule();
    return builder_.CreateCall(declare_math(module, op, type), in);
  }
  if (op == Op::Exp2) return math_.exp2(in[0]);
  if (op == Op::Log2) return math_.log2(in[0]);
  if (op == Op::Sin) return math_.sin(in[0]);
  return math_.mod(in[0], in[1]);
}

Value* OpEmitter::on_floats(Op op, llvm::ArrayRef<Value*> in) {
  const std::optional<FloatOp> known = float_op(op);
  LUMINAL_CHECK(known, std::string(name(op)) + " is not defined on floats");
  switch (*known) {
    case FloatOp::Exp2:
    case FloatOp::Log2:
    case FloatOp::Sin:
    case FloatOp::Mod:
      return transcendental(op, in);
    case FloatOp::Recip:
      return builder_.CreateFDiv(llvm::ConstantFP::get(in[0]->getType(), 1.0), in[0]);
    case FloatOp::Sqrt:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, in[0]);
    case FloatOp::Add:
      return builder_.CreateFAdd(in[0], in[1]);
    case FloatOp::Mul:
      return builder_.CreateFMul(in[0], in[1]);
    case FloatOp::LessThan:
      return builder_.CreateFCmpOLT(in[0], in[1]);
    case FloatOp::Equal:
      return builder_.CreateFCmpOEQ(in[0], in[1]);
  }
  return nullptr;
}

Value* OpEmitter::on_integers(Op op, DType dtype, llvm::ArrayRef<Value*> in) {
  const std::optional<IntegerOp> known = integer_op(op);
  LUMINAL_CHECK(known, std::string(name(op)) + " is not defined on " + std::string(name(dtype)));
  const bool is_bool = dtype == DType::Bool;
  switch (*known) {
    case IntegerOp::Add:
      return is_bool ? builder_.CreateOr(in[0], in[1]) : builder_.CreateAdd(in[0], in[1]);
    case IntegerOp::Mul:
      return is_bool ? builder_.CreateAnd(in[0], in[1]) : builder_.CreateMul(in[0], in[1]);
    case IntegerOp::Mod:
      return divide_truncating(builder_, in[0], in[1], !is_unsigned(dtype)).remainder;
    case IntegerOp::IntDiv:
      return divide_truncating(builder_, in[0], in[1], !is_unsigned(dtype)).quotient;
    case IntegerOp::BitAnd:
      return builder_.CreateAnd(in[0], in[1]);
    case IntegerOp::LessThan:
      return is_unsigned(dtype) ? builder_.CreateICmpULT(in[0], in[1])
                                : builder_.CreateICmpSLT(in[0], in[1]);
    case IntegerOp::Equal:
      return builder_.CreateICmpEQ(in[0], in[1]);
  }
  return nullptr;
}

Value* OpEmitter::constant(DType dtype, const kernel::ConstInst& value) {
  llvm::Type* type = register_type(builder_.getContext(), dtype);
  if (is_float(dtype)) return llvm::ConstantFP::get(type, round_to(dtype, value.real));
  return llvm::ConstantInt::get(type, static_cast<uint64_t>(wrap_to(dtype, value.integer)), true);
}

Value* OpEmitter::from_index(DType dtype, Value* index) { return cast(DType::I64, dtype, index); }

Value* OpEmitter::round(DType dtype, Value* x) {
  switch (dtype) {
    case DType::F64:
      return x;
    case DType::F32:
      return builder_.CreateFPTrunc(x, with_element(x, builder_.getFloatTy()));
    case DType::F16:
    case DType::BF16:
      if (x->getType()->getScalarType()->isDoubleTy()) x = narrow_to_odd(x);
      break;
    default:
      LUMINAL_CHECK(false, "only floats are rounded");
  }
  if (dtype == DType::F16) {
    Value* half = builder_.CreateFPTrunc(x, with_element(x, builder_.getHalfTy()));
    return builder_.CreateFPExt(half, x->getType());
  }
  return from_half_bits(DType::BF16, round_to_bf16(x));
}

// Rounds to nearest even; the result is 16 bits. The processor's conversion flushes subnormals to
// zero, so vectors that contain any are converted with integer arithmetic.
Value* OpEmitter::round_to_bf16(Value* x) {
  auto by_integers = [&] {
    llvm::Type* type = with_element(x, builder_.getInt32Ty());
    auto integer = [&](uint32_t value) { return llvm::ConstantInt::get(type, value); };
    Value* bits = builder_.CreateBitCast(x, type);
    Value* last = builder_.CreateAnd(builder_.CreateLShr(bits, 16), integer(1));
    Value* rounded = builder_.CreateAdd(builder_.CreateAdd(bits, integer(0x7fff)), last);
    Value* quiet = builder_.CreateOr(bits, integer(0x00400000));
    rounded = builder_.CreateSelect(builder_.CreateFCmpUNO(x, x), quiet, rounded);
    return builder_.CreateTrunc(builder_.CreateLShr(rounded, 16),
                                with_element(x, builder_.getInt16Ty()));
  };
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (!target_.avx512_bf16 || vector == nullptr || vector->getNumElements() != 16) {
    return by_integers();
  }
  constexpr int kSubnormal = 0x20;
  Value* converted =
      builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_512, {}, {x});
  Value* bits = builder_.CreateBitCast(converted, with_element(x, builder_.getInt16Ty()));
  Value* subnormal = builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_fpclass_ps_512, {},
                                              {x, builder_.getInt32(kSubnormal)});
  return where_any(builder_, subnormal, bits, by_integers);
}

// Rounds a double to f32 by round-to-odd, so that rounding again to 16 bits gives the same result
// as rounding the double directly (no double rounding).
Value* OpEmitter::narrow_to_odd(Value* x) {
  Value* nearest = builder_.CreateFPTrunc(x, with_element(x, builder_.getFloatTy()));
  Value* back = builder_.CreateFPExt(nearest, x->getType());
  llvm::Type* type = with_element(x, builder_.getInt32Ty());
  Value* one = llvm::ConstantInt::get(type, 1);
  Value* bits = builder_.CreateBitCast(nearest, type);
  Value* even =
      builder_.CreateICmpEQ(builder_.CreateAnd(bits, one), llvm::ConstantInt::get(type, 0));
  Value* inexact = builder_.CreateFCmpONE(back, x);  // false for NaN
  auto abs = [&](Value* v) { return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); };
  Value* above = builder_.CreateFCmpOGT(abs(back), abs(x));
  Value* step = builder_.CreateSelect(above, llvm::Constant::getAllOnesValue(type), one);
  Value* odd = builder_.CreateAdd(bits, step);
  bits = builder_.CreateSelect(builder_.CreateAnd(even, inexact), odd, bits);
  return builder_.CreateBitCast(bits, nearest->getType());
}

Value* OpEmitter::to_half_bits(DType dtype, Value* x) {
  llvm::Type* i16 = with_element(x, builder_.getInt16Ty());
  if (dtype == DType::F16) {
    Value* half = builder_.CreateFPTrunc(x, with_element(x, builder_.getHalfTy()));
    return builder_.CreateBitCast(half, i16);
  }
  Value* bits = builder_.CreateBitCast(x, with_element(x, builder_.getInt32Ty()));
  return builder_.CreateTrunc(builder_.CreateLShr(bits, 16), i16);
}

Value* OpEmitter::from_half_bits(DType dtype, Value* x) {
  llvm::Type* f32 = with_element(x, builder_.getFloatTy());
  if (dtype == DType::F16) {
    Value* half = builder_.CreateBitCast(x, with_element(x, builder_.getHalfTy()));
    return builder_.CreateFPExt(half, f32);
  }
  Value* wide = builder_.CreateZExt(x, with_element(x, builder_.getInt32Ty()));
  return builder_.CreateBitCast(builder_.CreateShl(wide, 16), f32);
}

Value* OpEmitter::cast(DType from, DType to, Value* x) {
  if (to == DType::Bool) {
    Value* zero = llvm::Constant::getNullValue(x->getType());
    if (from == DType::Bool) return x;
    return is_float(from) ? builder_.CreateFCmpUNE(x, zero) : builder_.CreateICmpNE(x, zero);
  }
  if (is_float(from) && is_float(to)) {
    if (to == DType::F64) return builder_.CreateFPExt(x, with_element(x, builder_.getDoubleTy()));
    return from == to || (is_half(from) && to == DType::F32) ? x : round(to, x);
  }
  if (is_float(from)) return float_to_int(to, x);
  return is_float(to) ? int_to_float(from, to, x) : resize(from, to, x);
}

// Converts through i64, saturating at its ends; NaN gives 0.
Value* OpEmitter::float_to_int(DType to, Value* x) {
  llvm::Type* i64 = with_element(x, builder_.getInt64Ty());
  Value* wide = builder_.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {i64, x->getType()}, {x});
  return resize(DType::I64, to, wide);
}

Value* OpEmitter::int_to_float(DType from, DType to, Value* x) {
  auto convert = [&](llvm::Type* element) {
    llvm::Type* type = with_element(x, element);
    return is_unsigned(from) ? builder_.CreateUIToFP(x, type) : builder_.CreateSIToFP(x, type);
  };
  if (to == DType::F64) return convert(builder_.getDoubleTy());
  if (to == DType::F32) return convert(builder_.getFloatTy());
  // Integers of more than 24 bits would be rounded twice if converted through f32.
  const bool wide = from == DType::I64 || from == DType::I32;
  return round(to, convert(wide ? builder_.getDoubleTy() : builder_.getFloatTy()));
}

Value* OpEmitter::resize(DType from, DType to, Value* x) {
  llvm::Type* type = with_element(x, register_type(builder_.getContext(), to));
  Value* result = builder_.CreateIntCast(x, type, !is_unsigned(from));
  if (to == DType::U4) result = builder_.CreateAnd(result, llvm::ConstantInt::get(type, 15));
  return result;
}

Value* OpEmitter::bitcast(DType from, DType to, Value* x) {
  if (is_half(from)) x = to_half_bits(from, x);
  if (is_half(to)) return from_half_bits(to, x);
  return builder_.CreateBitCast(x, with_element(x, register_type(builder_.getContext(), to)));
}

}  // namespace luminal::backends::cpu
