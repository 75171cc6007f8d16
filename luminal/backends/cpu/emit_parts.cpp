#include "luminal/backends/cpu/emit_parts.h"

namespace luminal::backends::cpu {

using llvm::Value;

Values bf16_parts(Builder& builder, Values values, int parts) {
  auto* floats = llvm::cast<llvm::FixedVectorType>(values.front()->getType());
  const unsigned lanes = floats->getNumElements();
  auto* words = llvm::FixedVectorType::get(builder.getInt32Ty(), lanes);
  auto* halves = llvm::FixedVectorType::get(builder.getInt16Ty(), 2 * lanes);
  std::vector<int> upper;  // halves of all words
  for (size_t k = 0; k < lanes * values.size(); ++k) upper.push_back(static_cast<int>(2 * k + 1));
  Values result;
  for (int part = 0; part < parts; ++part) {
    Values bits;
    for (Value* value : values) bits.push_back(builder.CreateBitCast(value, words));
    Values rounded = bits;
    if (part == 1 && parts == 2) {
      for (Value*& x : rounded) x = builder.CreateAdd(x, llvm::ConstantInt::get(words, 0x8000u));
    }
    Value* first = builder.CreateBitCast(rounded.front(), halves);
    Value* second = builder.CreateBitCast(rounded.back(), halves);
    result.push_back(builder.CreateShuffleVector(first, second, upper));
    // The upper bits are a number of their own, and what they leave is exact. They leave nothing
    // where there are no others; so infinity leaves nothing.
    for (size_t v = 0; v < values.size(); ++v) {
      Value* high = builder.CreateAnd(bits[v], llvm::ConstantInt::get(words, 0xffff0000u));
      Value* rest = builder.CreateFSub(values[v], builder.CreateBitCast(high, floats));
      values[v] = builder.CreateSelect(builder.CreateICmpEQ(high, bits[v]),
                                       llvm::Constant::getNullValue(floats), rest);
    }
  }
  return result;
}

}  // namespace luminal::backends::cpu
