#include "luminal/backends/cpu/micro/emit_parts.h"

namespace luminal::backends::cpu {

using llvm::Value;

namespace {

llvm::Constant* word(Value* like, uint64_t bits) {
  return llvm::ConstantInt::get(like->getType(), bits);
}

// Rounds to the nearest bf16; values so large that they might overflow are truncated.
Value* rounded_halves(Builder& builder, Value* bits) {
  Value* nearest = builder.CreateAdd(bits, word(bits, 0x8000u));
  Value* size = builder.CreateAnd(bits, word(bits, 0x7fffffffu));
  Value* is_huge = builder.CreateICmpUGE(size, word(bits, 0x7f000000u));
  return builder.CreateSelect(is_huge, bits, nearest);
}

}  // namespace

Values bf16_parts(Builder& builder, Values& values, Parts parts) {
  auto* floats = llvm::cast<llvm::FixedVectorType>(values.front()->getType());
  const unsigned lanes = floats->getNumElements();
  auto* words = llvm::FixedVectorType::get(builder.getInt32Ty(), lanes);
  auto* halves = llvm::FixedVectorType::get(builder.getInt16Ty(), 2 * lanes);
  std::vector<int> upper;  // halves of all words
  for (size_t k = 0; k < lanes * values.size(); ++k) upper.push_back(static_cast<int>(2 * k + 1));
  Values result;
  for (int part = 0; part < parts.count; ++part) {
    const bool is_last_of_two = part == 1 && parts.count == 2;
    Values bits, taken;
    for (Value* value : values) {
      bits.push_back(builder.CreateBitCast(value, words));
      taken.push_back(bits.back());
      if (is_last_of_two) {
        taken.back() = builder.CreateAdd(taken.back(), word(taken.back(), 0x8000u));
      } else if (parts.rounds_first) {
        taken.back() = rounded_halves(builder, taken.back());
      }
    }
    Value* first = builder.CreateBitCast(taken.front(), halves);
    Value* second = builder.CreateBitCast(taken.back(), halves);
    result.push_back(builder.CreateShuffleVector(first, second, upper));
    // The upper 16 bits are a bf16, and the difference to the value is exact. It is forced to 0 if
    // the lower bits are 0, so that infinity leaves 0 and not NaN.
    for (size_t v = 0; v < values.size(); ++v) {
      Value* high = builder.CreateAnd(taken[v], word(taken[v], 0xffff0000u));
      Value* rest = builder.CreateFSub(values[v], builder.CreateBitCast(high, floats));
      values[v] = builder.CreateSelect(builder.CreateICmpEQ(high, bits[v]),
                                       llvm::Constant::getNullValue(floats), rest);
    }
  }
  return result;
}

}  // namespace luminal::backends::cpu
