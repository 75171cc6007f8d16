#include "luminal/backends/cpu/math/vector_math.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <limits>

#include "luminal/backends/cpu/math/large_sine.h"
#include "luminal/backends/cpu/math/rare_lanes.h"

namespace luminal::backends::cpu {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;
namespace Intrinsic = llvm::Intrinsic;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Adding this constant rounds a float below 2^22 to an integer, held in the low bits of the sum.
constexpr double kRounder = 12582912.0;  // 1.5 · 2^23
constexpr uint32_t kRounderBits = 0x4b400000;

bool is_double(Value* x) { return x->getType()->getScalarType()->isDoubleTy(); }

int lanes_of(Value* x) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  return vector == nullptr ? 1 : static_cast<int>(vector->getNumElements());
}

}  // namespace

Value* VectorMath::real(Value* like, double value) {
  return llvm::ConstantFP::get(like->getType(), value);
}

Value* VectorMath::integer(Value* like, uint32_t value) {
  return llvm::ConstantInt::get(like->getType()->getWithNewType(builder_.getInt32Ty()), value);
}

Value* VectorMath::bits(Value* x) {
  return builder_.CreateBitCast(x, x->getType()->getWithNewType(builder_.getInt32Ty()));
}

Value* VectorMath::from_bits(Value* x) {
  return builder_.CreateBitCast(x, x->getType()->getWithNewType(builder_.getFloatTy()));
}

Value* VectorMath::fma(Value* a, Value* b, Value* c) {
  return builder_.CreateIntrinsic(Intrinsic::fma, {a->getType()}, {a, b, c});
}

Value* VectorMath::abs(Value* x) { return builder_.CreateUnaryIntrinsic(Intrinsic::fabs, x); }

Value* VectorMath::horner(Value* x, std::initializer_list<double> highest_first) {
  Value* sum = nullptr;
  for (double coefficient : highest_first) {
    Value* c = real(x, coefficient);
    sum = sum == nullptr ? c : fma(sum, x, c);
  }
  return sum;
}

// x · 2^exponent for an integer |exponent| ≤ 150 held as a float, rounded once; 0 in lanes that
// aren't `wanted`. Most processors take a hundred times as long for subnormal results, so zeros
// must not be computed by underflow: masked attention scores give many of them.
Value* VectorMath::scale(Value* x, Value* exponent, Value* wanted) {
  const int lanes = lanes_of(x);
  if (target_.avx512 && (lanes == 16 || lanes == 8)) {
    ID id = lanes == 16 ? Intrinsic::x86_avx512_mask_scalef_ps_512
                        : Intrinsic::x86_avx512_mask_scalef_ps_256;
    Value* mask = builder_.CreateBitCast(wanted, builder_.getIntNTy(static_cast<unsigned>(lanes)));
    std::vector<Value*> arguments = {x, exponent, real(x, 0), mask};
    if (lanes == 16) arguments.push_back(builder_.getInt32(4));  // the current rounding mode
    return builder_.CreateIntrinsic(id, {}, arguments);
  }
  // In two steps, the first exact, since 2^exponent itself may be subnormal or overflow.
  exponent = builder_.CreateSelect(wanted, exponent, real(x, 0));
  Value* n = builder_.CreateSub(bits(builder_.CreateFAdd(exponent, real(x, kRounder))),
                                integer(x, kRounderBits));
  auto power = [&](Value* k) {
    return from_bits(builder_.CreateShl(builder_.CreateAdd(k, integer(x, 127)), 23));
  };
  Value* half = builder_.CreateAShr(n, 1);
  Value* once = builder_.CreateFMul(x, power(half));
  Value* scaled = builder_.CreateFMul(once, power(builder_.CreateSub(n, half)));
  return builder_.CreateSelect(wanted, scaled, real(x, 0));
}

// 2^x = 2^n · 2^f, n the nearest integer; 2^f = 1 + f · p(f) on [−½, ½], so integers are exact.
Value* VectorMath::exp2(Value* x) {
  if (is_double(x)) return on_host("luminal_exp2_f64", {x});
  // Beyond these the result is inf or 0; NaN propagates.
  Value *top = real(x, 129), *bottom = real(x, -150);
  Value* wanted = builder_.CreateFCmpUGT(x, bottom);
  x = builder_.CreateSelect(builder_.CreateFCmpOLT(top, x), top, x);
  Value* n = builder_.CreateUnaryIntrinsic(Intrinsic::roundeven, x);
  Value* f = builder_.CreateFSub(x, n);
  Value* p = horner(f, {0.00015327840810641646, 0.0013390998356044292, 0.009618503041565418,
                        0.05550359562039375, 0.24022647738456726, 0.6931471824645996, 1.0});
  return scale(p, n, wanted);
}

// x = 2^exponent · (1 + t) with 1 + t in [√½, √2). AVX-512 has instructions for this that also
// handle special values: 2^±inf · 1 for inf and 0, NaN below 0.
VectorMath::Split VectorMath::split_for_log(Value* x) {
  constexpr uint32_t kSqrtTwoBits = 0x3fb504f3;
  const int lanes = lanes_of(x);
  const bool wide = lanes == 16;
  if (target_.avx512 && (wide || lanes == 8)) {
    constexpr int kFromOneNanBelowZero = 0b1100;
    Value* all = builder_.getIntN(static_cast<unsigned>(lanes), wide ? 0xffff : 0xff);
    std::vector<Value*> of_exponent = {x, x, all};
    std::vector<Value*> of_mantissa = {x, builder_.getInt32(kFromOneNanBelowZero), x, all};
    if (wide) {  // the current rounding mode
      of_exponent.push_back(builder_.getInt32(4));
      of_mantissa.push_back(builder_.getInt32(4));
    }
    Value* exponent = builder_.CreateIntrinsic(
        wide ? Intrinsic::x86_avx512_mask_getexp_ps_512 : Intrinsic::x86_avx512_mask_getexp_ps_256,
        {}, of_exponent);
    Value* mantissa = builder_.CreateIntrinsic(wide ? Intrinsic::x86_avx512_mask_getmant_ps_512
                                                    : Intrinsic::x86_avx512_mask_getmant_ps_256,
                                               {}, of_mantissa);
    Value* upper = builder_.CreateFCmpOGE(mantissa, from_bits(integer(x, kSqrtTwoBits)));
    mantissa = builder_.CreateSelect(upper, builder_.CreateFMul(mantissa, real(x, 0.5)), mantissa);
    exponent = builder_.CreateSelect(upper, builder_.CreateFAdd(exponent, real(x, 1)), exponent);
    return {.exponent = exponent, .t = builder_.CreateFSub(mantissa, real(x, 1)), .special = true};
  }
  // Subnormals are scaled up first.
  Value* small = builder_.CreateFCmpOLT(x, real(x, 0x1p-126));
  Value* scaled = builder_.CreateSelect(small, builder_.CreateFMul(x, real(x, 0x1p25)), x);
  Value* shift = builder_.CreateSelect(small, real(x, -25), real(x, 0));
  Value* b = bits(scaled);
  constexpr uint32_t kSqrtHalfBits = kSqrtTwoBits - (1u << 23);
  Value* e = builder_.CreateAShr(builder_.CreateSub(b, integer(x, kSqrtHalfBits)), 23);
  Value* mantissa = from_bits(builder_.CreateSub(b, builder_.CreateShl(e, 23)));
  return {.exponent = builder_.CreateFAdd(builder_.CreateSIToFP(e, x->getType()), shift),
          .t = builder_.CreateFSub(mantissa, real(x, 1)),
          .special = false};
}

// log2 x = exponent + t · log2(e) + t² · q(t).
Value* VectorMath::log2(Value* x) {
  if (is_double(x)) return on_host("luminal_log2_f64", {x});
  const auto [exponent, t, special] = split_for_log(x);
  Value* q = horner(t, {-0.11300104856491089, 0.18735791742801666, -0.19036324322223663,
                        0.2043711543083191, -0.23968105018138885, 0.2885812819004059,
                        -0.36069396138191223, 0.48089799284935, -0.7213473916053772});
  // log2(e) is split in two for precision: near x = 1 this product is the result.
  Value* low =
      fma(t, real(x, 1.925963033500306e-08), builder_.CreateFMul(builder_.CreateFMul(t, t), q));
  Value* result = builder_.CreateFAdd(fma(t, real(x, 1.44269502162933349609375), low), exponent);
  if (special) return result;
  Value *zero = real(x, 0), *infinity = real(x, kInfinity);
  result = builder_.CreateSelect(builder_.CreateFCmpOEQ(x, infinity), infinity, result);
  result = builder_.CreateSelect(builder_.CreateFCmpOEQ(x, zero), real(x, -kInfinity), result);
  return builder_.CreateSelect(builder_.CreateFCmpULT(x, zero), real(x, kNaN), result);
}

// Cody–Waite range reduction: x = j · π + r with π split into three parts of 24 bits, so that each
// step but the last is exact; sin x = ± sin r, r in [−π/2, π/2].
Value* VectorMath::sin(Value* x) {
  if (is_double(x)) return on_host("luminal_sin_f64", {x});
  Value* rounded = fma(x, real(x, 0.318309886183790671538), real(x, kRounder));
  Value* j = builder_.CreateFSub(rounded, real(x, kRounder));
  Value* r = fma(j, real(x, -3.1415927410125732), x);
  r = fma(j, real(x, 8.742277657347586e-08), r);
  r = fma(j, real(x, 3.4302490200117637e-15), r);
  // sin r = r + r · w(r²), with the first term of w added separately so that it is rounded once.
  Value* square = builder_.CreateFMul(r, r);
  Value* p =
      horner(square, {2.6060747586598154e-06, -0.00019809772493317723, 0.008333069272339344});
  Value* rest = builder_.CreateFMul(builder_.CreateFMul(square, square), p);
  Value* s = fma(fma(square, real(x, -0.16666659712791443), rest), r, r);
  Value* odd = builder_.CreateShl(bits(rounded), 31);
  s = from_bits(builder_.CreateXor(bits(s), odd));
  s = builder_.CreateSelect(builder_.CreateFCmpOEQ(x, real(x, 0)), x, s);  // keeps −0
  Value* large = builder_.CreateFCmpUGE(abs(x), real(x, kLargeForSine));
  return where_any(builder_, large, s,
                   [&] { return builder_.CreateSelect(large, sine_of_large(builder_, x), s); });
}

// a − q · b with q = trunc(a / b): exact as long as q is; q may be one too large, because a / b is
// rounded.
Value* VectorMath::mod(Value* a, Value* b) {
  if (is_double(a)) return on_host("luminal_mod_f64", {a, b});
  Value *x = abs(a), *y = abs(b);
  Value* quotient = builder_.CreateFDiv(x, y);
  Value* whole = builder_.CreateUnaryIntrinsic(Intrinsic::trunc, quotient);
  Value* rest = fma(builder_.CreateFNeg(whole), y, x);
  Value* below = builder_.CreateFCmpOLT(rest, real(a, 0));
  rest = builder_.CreateSelect(below, builder_.CreateFAdd(rest, y), rest);
  rest = builder_.CreateSelect(builder_.CreateFCmpOLT(x, y), x, rest);  // y may be inf
  rest = builder_.CreateBinaryIntrinsic(Intrinsic::copysign, rest, a);
  Value* large = builder_.CreateFCmpUGE(quotient, real(a, 0x1p23));  // and NaN
  return on_rare_lanes(large, rest, "luminal_mod_f32", {a, b});
}

Value* VectorMath::on_host(const char* name, std::initializer_list<Value*> arguments) {
  const int lanes = lanes_of(*arguments.begin());
  const uint64_t all = lanes == 64 ? ~uint64_t{0} : (uint64_t{1} << lanes) - 1;
  return call(name, nullptr, arguments, builder_.getInt64(all));
}

// `usual`, with the `rare` lanes computed by the host function.
Value* VectorMath::on_rare_lanes(Value* rare, Value* usual, const char* name,
                                 std::initializer_list<Value*> arguments) {
  return where_any(builder_, rare, usual, [&] {
    llvm::Type* mask_type = builder_.getIntNTy(static_cast<unsigned>(lanes_of(usual)));
    Value* mask = builder_.CreateBitCast(rare, mask_type);
    return call(name, usual, arguments, builder_.CreateZExt(mask, builder_.getInt64Ty()));
  });
}

Value* VectorMath::call(const char* name, Value* start, llvm::ArrayRef<Value*> arguments,
                        Value* lanes) {
  llvm::Function* function = builder_.GetInsertBlock()->getParent();
  llvm::Type* type = arguments[0]->getType();
  auto memory = [&] {
    llvm::IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
    return entry.CreateAlloca(type);
  };
  Value* out = memory();
  if (start != nullptr) builder_.CreateStore(start, out);
  std::vector<Value*> passed = {out};
  for (Value* argument : arguments) {
    passed.push_back(memory());
    builder_.CreateStore(argument, passed.back());
  }
  passed.push_back(lanes);
  std::vector<llvm::Type*> types;
  for (Value* value : passed) types.push_back(value->getType());
  llvm::FunctionCallee host = function->getParent()->getOrInsertFunction(
      name, llvm::FunctionType::get(builder_.getVoidTy(), types, false));
  builder_.CreateCall(host, passed)->setDoesNotThrow();
  return builder_.CreateLoad(type, out);
}

}  // namespace luminal::backends::cpu
