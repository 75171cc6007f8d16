#include "luminal/backends/cpu/math/large_sine.h"

#include <llvm/IR/Module.h>

#include <array>
#include <numbers>

#include "luminal/backends/cpu/math/ir_builder.h"

namespace luminal::backends::cpu {
namespace {

using llvm::Value;

// 1/π = 0.0101000101…, 32 bits a word.
constexpr uint32_t kInversePi[] = {0x517cc1b7, 0x27220a94, 0xfe13abe8, 0xfa9a6ee0,
                                   0x6db14acc, 0x9e21c820, 0xff28b1d5, 0xef5de2b0};

// A float is m · 2^(e − 150), m an integer of 24 bits and e its exponent field. In m · 2^(e − 150)
// / π the bits of 1/π before position e − 150 contribute multiples of 2, which don't change a sine.
constexpr int kFirstExponent = 127 + 17;
constexpr int kLastExponent = 255;  // inf and NaN read the table too
constexpr int kWindows = kLastExponent - kFirstExponent + 1 + 64;

// The 32 bits of 1/π from position e − 150 on, for e = kFirstExponent + k.
constexpr std::array<uint32_t, kWindows> windows() {
  std::array<uint32_t, kWindows> result{};
  for (int k = 0; k < kWindows; ++k) {
    for (int i = 0; i < 32; ++i) {
      const int position = kFirstExponent - 150 + k + i - 1;  // the first bit behind the point is 0
      if (position < 0) continue;
      const uint32_t bit = kInversePi[position / 32] >> (31 - position % 32) & 1;
      result[static_cast<size_t>(k)] |= bit << (31 - i);
    }
  }
  return result;
}
constexpr std::array<uint32_t, kWindows> kTable = windows();

Value* table(Builder& builder) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  constexpr const char* kName = "inverse_pi";
  if (llvm::GlobalVariable* known = module.getNamedGlobal(kName)) return known;
  llvm::Constant* words = llvm::ConstantDataArray::get(module.getContext(), kTable);
  return new llvm::GlobalVariable(module, words->getType(), true,
                                  llvm::GlobalValue::InternalLinkage, words, kName);
}

}  // namespace

// Payne–Hanek range reduction: 64 bits of |x| / π modulo 2 from an integer product. The remainder
// after the nearest integer is accurate to 2^-62; no f32 is closer to a multiple of π than about
// 2^-30.
Value* sine_of_large(Builder& builder, Value* x) {
  llvm::Type* i32 = x->getType()->getWithNewType(builder.getInt32Ty());
  llvm::Type* i64 = x->getType()->getWithNewType(builder.getInt64Ty());
  llvm::Type* f64 = x->getType()->getWithNewType(builder.getDoubleTy());
  auto integer = [](llvm::Type* type, uint64_t value) {
    return llvm::ConstantInt::get(type, value);
  };
  Value* bits = builder.CreateBitCast(x, i32);
  Value* exponent = builder.CreateAnd(builder.CreateLShr(bits, 23), integer(i32, 255));
  exponent =
      builder.CreateBinaryIntrinsic(llvm::Intrinsic::umax, exponent, integer(i32, kFirstExponent));
  Value* window = builder.CreateSub(exponent, integer(i32, kFirstExponent));
  Value* mantissa =
      builder.CreateOr(builder.CreateAnd(bits, integer(i32, 0x7fffff)), integer(i32, 0x800000));
  mantissa = builder.CreateZExt(mantissa, i64);
  auto product = [&](uint64_t skipped) {  // mantissa times 32 bits of 1/π
    Value* at = builder.CreateZExt(builder.CreateAdd(window, integer(i32, skipped)), i64);
    Value* address = builder.CreateGEP(builder.getInt32Ty(), table(builder), at);
    Value* word =
        i32->isVectorTy()
            ? static_cast<Value*>(builder.CreateMaskedGather(i32, address, llvm::Align(4)))
            : builder.CreateAlignedLoad(i32, address, llvm::Align(4));
    return builder.CreateMul(mantissa, builder.CreateZExt(word, i64));
  };
  Value* quotient = builder.CreateShl(product(0), 32);
  quotient = builder.CreateAdd(quotient, product(32));
  quotient = builder.CreateAdd(quotient, builder.CreateLShr(product(64), 32));
  // The top bit has the weight 1; the others are the fraction.
  Value* nearest = builder.CreateAdd(quotient, integer(i64, uint64_t{1} << 62));
  nearest = builder.CreateAnd(nearest, integer(i64, uint64_t{1} << 63));
  Value* rest = builder.CreateSIToFP(builder.CreateSub(quotient, nearest), f64);
  Value* r = builder.CreateFMul(rest, llvm::ConstantFP::get(f64, std::numbers::pi * 0x1p-63));
  // sin r on [−π/2, π/2] by its Taylor series, with an error of 7e-10.
  Value* square = builder.CreateFMul(r, r);
  Value* sum = llvm::ConstantFP::get(f64, 1.0 / 6227020800);
  for (double factorial : {-39916800.0, 362880.0, -5040.0, 120.0, -6.0, 1.0}) {
    Value* next = llvm::ConstantFP::get(f64, 1.0 / factorial);
    sum = builder.CreateFAdd(builder.CreateFMul(sum, square), next);
  }
  Value* sine = builder.CreateFPTrunc(builder.CreateFMul(sum, r), x->getType());
  // The sign flips for odd multiples of π and for negative x.
  Value* turn = builder.CreateTrunc(builder.CreateLShr(nearest, 32), i32);
  turn = builder.CreateXor(turn, builder.CreateAnd(bits, integer(i32, 0x80000000u)));
  sine = builder.CreateBitCast(builder.CreateXor(builder.CreateBitCast(sine, i32), turn),
                               x->getType());
  Value* finite = builder.CreateFCmpORD(builder.CreateFSub(x, x), x);
  return builder.CreateSelect(finite, sine, builder.CreateFSub(x, x));
}

}  // namespace luminal::backends::cpu
