#include "luminal/backends/cpu/emit_fixed_point.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

#include "luminal/kernel/panels.h"

namespace luminal::backends::cpu {

using llvm::Value;

namespace {

constexpr int kWordLanes = 16;
constexpr uint32_t kSignBit = 0x80000000, kInfinityBits = 0x7f800000;
constexpr int kMantissaBits = 23, kBias = 127;
// A part's largest element is less than 2 to this power of its unit.
constexpr int kWholeBits = 30;
// Units are no smaller than the smallest normal number.
constexpr uint32_t kLeastExponent = kWholeBits;
// 128 in each digit but the highest: turns digits without a sign into signed ones.
constexpr uint32_t kTurned = 0x00808080;
constexpr uint32_t kNearest = 8;       // rounding, of a conversion
constexpr int64_t kMostUnrolled = 32;  // elements of k
constexpr size_t kMostDigitSums = 16;  // of all digits, in registers

}  // namespace

llvm::FixedVectorType* FixedPointEmitter::vector(llvm::Type* type, int64_t n) {
  return llvm::FixedVectorType::get(type, static_cast<unsigned>(n));
}

void FixedPointEmitter::emit_row(Value* row, Value* parts, Value* digits, Value* units) {
  auto constant = [&](uint32_t value) { return builder_.getInt32(value); };
  loops_.counted(i64(0), parts, 1, {}, [&](Value* part, const Values&) {
    Value* before = builder_.CreateMul(part, i64(block_ * 4));
    Value* from = at(row, before);
    Value* largest = largest_bits(from);
    Value* finite = builder_.CreateICmpULT(largest, constant(kInfinityBits));
    Value* exponent = builder_.CreateBinaryIntrinsic(
        llvm::Intrinsic::umax, builder_.CreateLShr(largest, 23), constant(kLeastExponent));
    auto power_of_two = [&](Value* biased) {
      return builder_.CreateBitCast(builder_.CreateShl(biased, kMantissaBits),
                                    builder_.getFloatTy());
    };
    // With exponent e: 2^(kWholeBits − 1 − e), and 1 over that.
    Value* factor =
        power_of_two(builder_.CreateSub(constant(2 * kBias + kWholeBits - 1), exponent));
    Value* unit = power_of_two(builder_.CreateSub(exponent, constant(kWholeBits - 1)));
    Value* nan = builder_.CreateBitCast(constant(kInfinityBits | 0x400000), builder_.getFloatTy());
    builder_.CreateAlignedStore(builder_.CreateSelect(finite, unit, nan),
                                at(units, builder_.CreateMul(part, i64(4))), llvm::Align(4));
    store_digits(from, factor, at(digits, before));
    return Values();
  });
}

// As bits, which are in the order of the numbers, with infinity and NaN above all.
Value* FixedPointEmitter::largest_bits(Value* row) {
  auto* type = vector(builder_.getInt32Ty(), at_once());
  Value* largest = llvm::Constant::getNullValue(type);
  for (int64_t k = 0; k < block_; k += at_once()) {
    Value* bits = builder_.CreateAlignedLoad(type, at(row, i64(k * 4)), llvm::Align(4));
    bits = builder_.CreateAnd(bits, llvm::ConstantInt::get(type, ~kSignBit));
    largest = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, largest, bits);
  }
  return builder_.CreateIntMaxReduce(largest);
}

// Of the eight elements of a word of u4: first those at even places, then the others, as a word
// masks them; of these four the lowest digits, then the next.
void FixedPointEmitter::store_digits(Value* row, Value* factor, Value* digits) {
  const int64_t n = at_once();
  auto* floats = vector(builder_.getFloatTy(), n);
  auto* words = vector(builder_.getInt32Ty(), n);
  std::vector<int> order;
  for (int64_t first = 0; first < n; first += kernel::kU4PerWord) {
    for (int odd = 0; odd < 2; ++odd) {
      for (int digit = 0; digit < kDigits; ++digit) {
        for (int k = odd; k < kernel::kU4PerWord; k += 2) {
          order.push_back(static_cast<int>(first + k) * kDigits + digit);
        }
      }
    }
  }
  for (int64_t k = 0; k < block_; k += n) {
    Value* x = builder_.CreateAlignedLoad(floats, at(row, i64(k * 4)), llvm::Align(4));
    x = builder_.CreateFMul(x, builder_.CreateVectorSplat(floats->getElementCount(), factor));
    Value* whole = rounded(x);
    Value* turned = llvm::ConstantInt::get(words, kTurned);
    whole = builder_.CreateXor(builder_.CreateAdd(whole, turned), turned);
    Value* bytes = builder_.CreateBitCast(whole, vector(builder_.getInt8Ty(), n * kDigits));
    builder_.CreateAlignedStore(builder_.CreateShuffleVector(bytes, order), at(digits, i64(k * 4)),
                                llvm::Align(4));
  }
}

// To the nearest whole number; any number for infinity and NaN.
Value* FixedPointEmitter::rounded(Value* x) {
  if (at_once() == 8)
    return builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx_cvt_ps2dq_256, {}, {x});
  auto* words = vector(builder_.getInt32Ty(), kWordLanes);
  return builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_cvtps2dq_512, {},
                                  {x, llvm::Constant::getNullValue(words),
                                   builder_.getInt16(0xffff), builder_.getInt32(kNearest)});
}

// As many panels at once as registers hold sums of.
Values FixedPointEmitter::multiply(const std::vector<Row>& rows, const Values& panels) {
  const size_t n = std::max<size_t>(1, kMostDigitSums / kDigits / rows.size());
  Values result(rows.size() * panels.size());
  for (size_t first = 0; first < panels.size(); first += n) {
    const size_t last = std::min(first + n, panels.size());
    const Values group(panels.begin() + static_cast<ptrdiff_t>(first),
                       panels.begin() + static_cast<ptrdiff_t>(last));
    if (first > 0) keep_apart();
    const Values products = multiply_group(rows, group);
    for (size_t row = 0; row < rows.size(); ++row) {
      for (size_t p = 0; p < group.size(); ++p) {
        result[row * panels.size() + first + p] = products[row * group.size() + p];
      }
    }
  }
  return result;
}

// LLVM would load the digits once for all panels, and the sums of all of them fill no registers but
// the stack.
void FixedPointEmitter::keep_apart() {
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), false);
  builder_.CreateCall(llvm::InlineAsm::get(type, "", "~{memory}", true));
}

Values FixedPointEmitter::multiply_group(const std::vector<Row>& rows, const Values& panels) {
  auto* words = vector(builder_.getInt32Ty(), kWordLanes);
  Value* mask = llvm::ConstantInt::get(words, 0x0f0f0f0f);
  const Values zeros(rows.size() * panels.size() * kDigits, llvm::Constant::getNullValue(words));
  const int64_t steps = std::min(block_, kMostUnrolled);
  auto step = [&](Value* k, Values& sums) {
    for (size_t p = 0; p < panels.size(); ++p) {
      Value* from = at(panels[p], builder_.CreateMul(k, i64(kWordLanes / 2)));
      Value* word = builder_.CreateAlignedLoad(words, from, llvm::Align(4));
      for (int odd = 0; odd < 2; ++odd) {
        Value* u4 = builder_.CreateAnd(odd == 0 ? word : builder_.CreateLShr(word, 4), mask);
        for (size_t r = 0; r < rows.size(); ++r) {
          for (int digit = 0; digit < kDigits; ++digit) {
            Value* offset = builder_.CreateAdd(builder_.CreateMul(k, i64(kDigits)),
                                               i64((odd * kDigits + digit) * 4));
            Value* digits = builder_.CreateAlignedLoad(builder_.getInt32Ty(),
                                                       at(rows[r].digits, offset), llvm::Align(4));
            digits = builder_.CreateVectorSplat(kWordLanes, digits);
            Value*& sum = sums[(r * panels.size() + p) * kDigits + static_cast<size_t>(digit)];
            sum = builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpdpbusd_512, {},
                                           {sum, u4, digits});
          }
        }
      }
    }
  };
  const Values sums =
      loops_.counted(i64(0), i64(block_), steps, zeros, [&](Value* first, const Values& carried) {
        Values next = carried;
        for (int64_t k = 0; k < steps; k += kernel::kU4PerWord) {
          step(builder_.CreateAdd(first, i64(k)), next);
        }
        return next;
      });
  Values result;
  for (size_t r = 0; r < rows.size(); ++r) {
    Value* unit = builder_.CreateVectorSplat(kWordLanes, rows[r].unit);
    for (size_t p = 0; p < panels.size(); ++p) {
      Value* product = joined(sums, (r * panels.size() + p) * kDigits);
      result.push_back(builder_.CreateFMul(product, unit));
    }
  }
  return result;
}

// The sum that the sums of the digits make. Those of two are whole in a float, if a block has no
// more than 32 elements; the rest is rounded once.
Value* FixedPointEmitter::joined(const Values& sums, size_t first) {
  auto* floats = vector(builder_.getFloatTy(), kWordLanes);
  auto two = [&](size_t digit) {
    Value* upper = builder_.CreateShl(sums[first + digit + 1], 8);
    return builder_.CreateSIToFP(builder_.CreateAdd(upper, sums[first + digit]), floats);
  };
  Value* above = llvm::ConstantFP::get(floats, 65536.0);
  return builder_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {floats}, {two(2), above, two(0)});
}

}  // namespace luminal::backends::cpu
