#include "luminal/backends/cpu/micro/emit_fixed_point.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <numeric>

#include "luminal/backends/cpu/stage/emit_memory.h"

namespace luminal::backends::cpu {

using llvm::Value;

namespace {

constexpr int kWordLanes = 16;
constexpr uint32_t kSignBit = 0x80000000, kInfinityBits = 0x7f800000;
constexpr int kMantissaBits = 23, kBias = 127;
// A group's largest element is less than 2^kWholeBits units.
constexpr int kWholeBits = 30;
// Units are no smaller than the smallest normal number.
constexpr uint32_t kLeastExponent = kWholeBits;
// 128 in each digit but the highest: converts unsigned digits to signed ones.
constexpr uint32_t kTurned = 0x00808080;
constexpr uint32_t kNearest = 8;  // rounding mode of a conversion: to nearest
constexpr int64_t kUnrolledK = 32;
constexpr size_t kMostDigitSums = 16;  // accumulators of all digits, in registers

}  // namespace

llvm::FixedVectorType* FixedPointEmitter::vector(llvm::Type* type, int64_t n) {
  return llvm::FixedVectorType::get(type, static_cast<unsigned>(n));
}

void FixedPointEmitter::emit_row(Value* row, Value* parts, Value* digits, Value* units) {
  auto constant = [&](uint32_t value) { return builder_.getInt32(value); };
  loops_.counted(i64(0), parts, 1, {}, [&](Value* part, const Values&) {
    Value* from = at(row, builder_.CreateMul(part, i64(block_ * 4)));
    Value* largest = largest_bits(from);
    Value* finite = builder_.CreateICmpULT(largest, constant(kInfinityBits));
    Value* exponent = builder_.CreateBinaryIntrinsic(
        llvm::Intrinsic::umax, builder_.CreateLShr(largest, 23), constant(kLeastExponent));
    auto power_of_two = [&](Value* biased) {
      return builder_.CreateBitCast(builder_.CreateShl(biased, kMantissaBits),
                                    builder_.getFloatTy());
    };
    // With exponent e: the factor is 2^(kWholeBits − 1 − e), the unit its reciprocal.
    Value* factor =
        power_of_two(builder_.CreateSub(constant(2 * kBias + kWholeBits - 1), exponent));
    Value* unit = power_of_two(builder_.CreateSub(exponent, constant(kWholeBits - 1)));
    Value* nan = builder_.CreateBitCast(constant(kInfinityBits | 0x400000), builder_.getFloatTy());
    builder_.CreateAlignedStore(builder_.CreateSelect(finite, unit, nan),
                                at(units, builder_.CreateMul(part, i64(4))), llvm::Align(4));
    store_digits(from, factor,
                 at(digits, builder_.CreateMul(part, i64(part_bytes(integers_, block_)))));
    return Values();
  });
}

// The maximum magnitude, as bits: these are ordered like the numbers, infinity and NaN on top.
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

// The order in which digits are stored: word by word, dot product by dot product (as
// factors_of_word gives them); for each the lowest digits of its four elements, then the next ones.
std::vector<int> FixedPointEmitter::order_of_digits() const {
  const int64_t per_word = integers_per_word(integers_);
  const int64_t n_products = per_word / kernel::kBytesPerWord;
  std::vector<int> order;
  for (int64_t first = 0; first < at_once(); first += per_word) {
    for (int64_t product = 0; product < n_products; ++product) {
      for (int digit = 0; digit < kDigits; ++digit) {
        for (int64_t k = product; k < per_word; k += n_products) {
          order.push_back(static_cast<int>(first + k) * kDigits + digit);
        }
      }
    }
  }
  return order;
}

void FixedPointEmitter::store_digits(Value* row, Value* factor, Value* digits) {
  const int64_t n = at_once();
  auto* floats = vector(builder_.getFloatTy(), n);
  auto* words = vector(builder_.getInt32Ty(), n);
  const std::vector<int> order = order_of_digits();
  Values wholes;
  for (int64_t k = 0; k < block_; k += n) {
    Value* x = builder_.CreateAlignedLoad(floats, at(row, i64(k * 4)), llvm::Align(4));
    x = builder_.CreateFMul(x, builder_.CreateVectorSplat(floats->getElementCount(), factor));
    Value* whole = rounded(x);
    Value* turned = llvm::ConstantInt::get(words, kTurned);
    whole = builder_.CreateXor(builder_.CreateAdd(whole, turned), turned);
    Value* bytes = builder_.CreateBitCast(whole, vector(builder_.getInt8Ty(), n * kDigits));
    builder_.CreateAlignedStore(builder_.CreateShuffleVector(bytes, order), at(digits, i64(k * 4)),
                                llvm::Align(4));
    wholes.push_back(whole);
  }
  if (integers_ == DType::I8) store_starts(wholes, at(digits, i64(block_ * kDigits)));
}

// For each digit, −128 times its sum: undoes the 128 that is added to i8.
void FixedPointEmitter::store_starts(const Values& wholes, Value* to) {
  for (int digit = 0; digit < kDigits; ++digit) {
    Value* total = llvm::Constant::getNullValue(wholes.front()->getType());
    for (Value* whole : wholes) {
      Value* above = builder_.CreateShl(whole, static_cast<uint64_t>(8 * (kDigits - 1 - digit)));
      total = builder_.CreateAdd(total, builder_.CreateAShr(above, 8 * (kDigits - 1)));
    }
    Value* start = builder_.CreateMul(builder_.CreateAddReduce(total), builder_.getInt32(-128));
    builder_.CreateAlignedStore(start, at(to, i64(digit * 4)), llvm::Align(4));
  }
}

// Rounds to the nearest integer; unspecified for infinity and NaN.
Value* FixedPointEmitter::rounded(Value* x) {
  if (at_once() == 8)
    return builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx_cvt_ps2dq_256, {}, {x});
  auto* words = vector(builder_.getInt32Ty(), kWordLanes);
  return builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_cvtps2dq_512, {},
                                  {x, llvm::Constant::getNullValue(words),
                                   builder_.getInt16(0xffff), builder_.getInt32(kNearest)});
}

// Multiplies as many panels at once as there are registers for their sums.
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

// A compiler barrier between groups of panels. Without it LLVM loads the digits once for all
// panels, and the sums of all of them spill to the stack.
void FixedPointEmitter::keep_apart() {
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), false);
  builder_.CreateCall(llvm::InlineAsm::get(type, "", "~{memory}", true));
}

// Initial sums by row, panel and digit. For i8 they start with the correction for the added 128.
Values FixedPointEmitter::first_sums(const std::vector<Row>& rows, size_t n_panels) {
  Values sums;
  for (const Row& row : rows) {
    Values starts(kDigits, builder_.getInt32(0));
    if (integers_ == DType::I8) {
      for (int digit = 0; digit < kDigits; ++digit) {
        Value* from = at(row.digits, i64(block_ * kDigits + digit * 4));
        starts[static_cast<size_t>(digit)] =
            builder_.CreateAlignedLoad(builder_.getInt32Ty(), from, llvm::Align(4));
      }
    }
    for (size_t p = 0; p < n_panels; ++p) {
      for (Value* start : starts) sums.push_back(builder_.CreateVectorSplat(kWordLanes, start));
    }
  }
  return sums;
}

// The unsigned bytes of a word, four per dot product.
Values FixedPointEmitter::factors_of_word(Value* word) {
  if (integers_ == DType::U4) {
    return {builder_.CreateAnd(word, 0x0f0f0f0f),
            builder_.CreateAnd(builder_.CreateLShr(word, 4), 0x0f0f0f0f)};
  }
  return {integers_ == DType::I8 ? builder_.CreateXor(word, 0x80808080) : word};
}

Values FixedPointEmitter::multiply_group(const std::vector<Row>& rows, const Values& panels) {
  auto* words = vector(builder_.getInt32Ty(), kWordLanes);
  const int64_t steps = std::gcd(block_, pace_.unroll_k > 0 ? pace_.unroll_k : kUnrolledK);
  const int64_t per_word = integers_per_word(integers_);
  const int64_t bytes_of_k = kWordLanes * kernel::kBytesPerWord / per_word;
  auto step = [&](Value* k, Values& sums) {
    for (size_t p = 0; p < panels.size(); ++p) {
      Value* from = at(panels[p], builder_.CreateMul(k, i64(bytes_of_k)));
      // Of bytes: Q8_0 took 0.93 of the time. For u4 it took longer.
      if (integers_ != DType::U4) emit_prefetch(builder_, at(from, i64(pace_.prefetch_bytes)));
      const Values factors =
          factors_of_word(builder_.CreateAlignedLoad(words, from, llvm::Align(4)));
      for (size_t f = 0; f < factors.size(); ++f) {
        for (size_t r = 0; r < rows.size(); ++r) {
          for (size_t digit = 0; digit < kDigits; ++digit) {
            Value* offset = builder_.CreateAdd(builder_.CreateMul(k, i64(kDigits)),
                                               i64(static_cast<int64_t>(f * kDigits + digit) * 4));
            Value* digits = builder_.CreateAlignedLoad(builder_.getInt32Ty(),
                                                       at(rows[r].digits, offset), llvm::Align(4));
            digits = builder_.CreateVectorSplat(kWordLanes, digits);
            Value*& sum = sums[(r * panels.size() + p) * kDigits + digit];
            sum = builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpdpbusd_512, {},
                                           {sum, factors[f], digits});
          }
        }
      }
    }
  };
  const Values sums = loops_.counted(i64(0), i64(block_), steps, first_sums(rows, panels.size()),
                                     [&](Value* first, const Values& carried) {
                                       Values next = carried;
                                       for (int64_t k = 0; k < steps; k += per_word) {
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

// Combines the sums of the digits. Two at a time are exact in i32; for u4 with groups of at most 32
// elements they are exact in f32 too.
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
