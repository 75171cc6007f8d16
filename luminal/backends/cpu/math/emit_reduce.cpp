#include "luminal/backends/cpu/math/emit_reduce.h"

#include <numeric>

namespace luminal::backends::cpu {
namespace {

using llvm::Value;

// The key of −inf before keys are shifted so that it becomes 0: the bits of −inf with all but the
// sign flipped.
llvm::APInt lowest_key(unsigned bits) {
  llvm::APInt infinity =
      bits == 32 ? llvm::APInt(32, 0xff800000u) : llvm::APInt(64, 0xfff0000000000000ull);
  return infinity ^ llvm::APInt::getSignedMaxValue(bits);
}

llvm::Type* shaped(llvm::Type* element, int lanes) {
  return lanes == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}

}  // namespace

// Max over floats is computed on integer keys: one instruction per step instead of the five that
// NaN and ±0 require. Flipping the magnitude bits of negative numbers orders floats as signed
// integers, −0 below +0; as unsigned distances from −inf, NaNs of either sign are the largest.
Value* ReduceEmitter::to_key(Value* x) {
  const unsigned bits = x->getType()->getScalarSizeInBits();
  llvm::Type* type = x->getType()->getWithNewType(builder_.getIntNTy(bits));
  auto constant = [&](const llvm::APInt& value) { return llvm::ConstantInt::get(type, value); };
  Value* b = builder_.CreateBitCast(x, type);
  Value* magnitude = builder_.CreateAnd(builder_.CreateAShr(b, bits - 1),
                                        constant(llvm::APInt::getSignedMaxValue(bits)));
  return builder_.CreateSub(builder_.CreateXor(b, magnitude), constant(lowest_key(bits)));
}

Value* ReduceEmitter::from_key(Value* key) {
  llvm::Type* type = key->getType();
  const unsigned bits = type->getScalarSizeInBits();
  auto constant = [&](const llvm::APInt& value) { return llvm::ConstantInt::get(type, value); };
  Value* b = builder_.CreateAdd(key, constant(lowest_key(bits)));
  Value* magnitude = builder_.CreateAnd(builder_.CreateAShr(b, bits - 1),
                                        constant(llvm::APInt::getSignedMaxValue(bits)));
  llvm::Type* real = bits == 32 ? builder_.getFloatTy() : builder_.getDoubleTy();
  return builder_.CreateBitCast(builder_.CreateXor(b, magnitude), type->getWithNewType(real));
}

Value* ReduceEmitter::start(int lanes) {
  llvm::Type* type = shaped(register_type(builder_.getContext(), dtype_), lanes);
  if (uses_keys()) {
    return llvm::Constant::getNullValue(
        type->getWithNewType(builder_.getIntNTy(type->getScalarSizeInBits())));
  }
  switch (reducer_) {
    case Reducer::Sum:
      return llvm::Constant::getNullValue(type);
    case Reducer::Prod:
      if (is_float(dtype_)) return llvm::ConstantFP::get(type, 1.0);
      return llvm::ConstantInt::get(type, 1);
    case Reducer::Max:
      break;
  }
  if (is_unsigned(dtype_)) return llvm::Constant::getNullValue(type);
  return llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(type->getScalarSizeInBits()));
}

Value* ReduceEmitter::step(Value* so_far, Value* value, Value* mask) {
  Value* next = combine(so_far, taken(value));
  return mask == nullptr ? next : builder_.CreateSelect(mask, next, so_far);
}

Value* ReduceEmitter::combine(Value* a, Value* b) {
  if (uses_keys()) return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, a, b);
  const bool is_bool = dtype_ == DType::Bool;
  switch (reducer_) {
    case Reducer::Sum:
      if (is_float(dtype_)) return builder_.CreateFAdd(a, b);
      return is_bool ? builder_.CreateOr(a, b) : builder_.CreateAdd(a, b);
    case Reducer::Prod:
      if (is_float(dtype_)) return builder_.CreateFMul(a, b);
      return is_bool ? builder_.CreateAnd(a, b) : builder_.CreateMul(a, b);
    case Reducer::Max:
      break;
  }
  if (is_bool) return builder_.CreateOr(a, b);
  return builder_.CreateBinaryIntrinsic(
      is_unsigned(dtype_) ? llvm::Intrinsic::umax : llvm::Intrinsic::smax, a, b);
}

// A Hillis–Steele scan: each lane combines with the one 1, 2, 4 … before it. The carry `so_far` is
// combined last, so that only one step per vector depends on the previous vector.
Value* ReduceEmitter::prefix(Value*& so_far, Value* values, Value* mask) {
  const auto lanes = llvm::cast<llvm::FixedVectorType>(values->getType())->getNumElements();
  Value* nothing = start(static_cast<int>(lanes));
  Value* result = taken(values);
  if (mask != nullptr) result = builder_.CreateSelect(mask, result, nothing);
  for (unsigned step = 1; step < lanes; step *= 2) {
    std::vector<int> moved(lanes);  // lane k − step; if negative, a lane of the identity
    for (unsigned k = 0; k < lanes; ++k) moved[k] = static_cast<int>(lanes + k - step);
    for (unsigned k = 0; k < step; ++k) moved[k] = static_cast<int>(k);
    result = combine(builder_.CreateShuffleVector(nothing, result, moved), result);
  }
  Value* before = builder_.CreateVectorSplat(lanes, so_far);
  so_far = combine(so_far, builder_.CreateExtractElement(result, uint64_t{lanes - 1}));
  return combine(before, result);
}

Value* ReduceEmitter::combine_all(std::vector<Value*> accumulators) {
  while (accumulators.size() > 1) {
    std::vector<Value*> half;
    for (size_t k = 0; k + 1 < accumulators.size(); k += 2) {
      half.push_back(combine(accumulators[k], accumulators[k + 1]));
    }
    if (accumulators.size() % 2 == 1) half.push_back(accumulators.back());
    accumulators = std::move(half);
  }
  return accumulators[0];
}

Value* ReduceEmitter::across_lanes(Value* accumulator) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(accumulator->getType());
  if (type == nullptr) return accumulator;
  // Integer sums use LLVM's reduction intrinsic: from our own halving, LLVM forms a dot product
  // (VPDPBUSD) where products of bytes are summed, and loses all but the first lane.
  const bool adds = reducer_ == Reducer::Sum && dtype_ != DType::Bool;
  if (adds && !is_float(dtype_)) return builder_.CreateAddReduce(accumulator);
  for (int lanes = static_cast<int>(type->getNumElements()); lanes > 1; lanes /= 2) {
    std::vector<int> low(static_cast<size_t>(lanes) / 2), high(low.size());
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), lanes / 2);
    accumulator = combine(builder_.CreateShuffleVector(accumulator, low),
                          builder_.CreateShuffleVector(accumulator, high));
  }
  return builder_.CreateExtractElement(accumulator, uint64_t{0});
}

Value* ReduceEmitter::finish(Value* accumulator) {
  Value* value = uses_keys() ? from_key(accumulator) : accumulator;
  const bool half = is_half(dtype_);
  return half ? ops_.round(dtype_, value) : value;
}

}  // namespace luminal::backends::cpu
