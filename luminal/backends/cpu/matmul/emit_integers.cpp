#include "luminal/backends/cpu/matmul/emit_integers.h"

#include <llvm/IR/IntrinsicsX86.h>

#include "luminal/kernel/recognise/panels.h"

namespace luminal::backends::cpu {

using llvm::Value;

namespace {

// One u4 of a word as f32: looked up in a table of 16 floats (permute), or masked and converted.
Value* u4_of_word(Builder& builder, const Target& target, Value* word, int position, int lanes) {
  Value* shifted = position == 0 ? word : builder.CreateLShr(word, uint64_t(4 * position));
  if (!target.avx512 || lanes != 16) {
    auto* vector = llvm::FixedVectorType::get(builder.getFloatTy(), static_cast<unsigned>(lanes));
    return builder.CreateSIToFP(builder.CreateAnd(shifted, 15), vector);
  }
  std::vector<float> numbers(16);
  for (size_t k = 0; k < numbers.size(); ++k) numbers[k] = static_cast<float>(k);
  Value* table = llvm::ConstantDataVector::get(builder.getContext(), numbers);
  return builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {}, {table, shifted});
}

// One byte of a word as f32.
Value* byte_of_word(Builder& builder, DType dtype, Value* word, int position, int lanes) {
  constexpr int kLast = kernel::kBytesPerWord - 1;
  Value* highest = builder.CreateShl(word, uint64_t(8 * (kLast - position)));
  Value* byte = dtype == DType::I8 ? builder.CreateAShr(highest, 8 * kLast)
                                   : builder.CreateLShr(highest, 8 * kLast);
  auto* vector = llvm::FixedVectorType::get(builder.getFloatTy(), static_cast<unsigned>(lanes));
  return builder.CreateSIToFP(byte, vector);
}

}  // namespace

Value* integer_panel(EmitState& state, const TiledIntegers& integers, int copy) {
  Builder& builder = state.builder;
  Value* bits_before =
      builder.CreateMul(state.index.scalar(integers.address, copy),
                        builder.getInt64(static_cast<uint64_t>(bits(integers.dtype))));
  return builder.CreatePtrAdd(state.params[integers.param], builder.CreateLShr(bits_before, 3));
}

Values integer_elements(EmitState& state, const Target& target, const TiledIntegers& integers,
                        Value* panel, Value* k) {
  Builder& builder = state.builder;
  const int lanes = state.schedule.tiling->lanes;
  const auto n = static_cast<unsigned>(lanes);
  auto* words = llvm::FixedVectorType::get(builder.getInt32Ty(), n);
  const int64_t bytes_of_k = int64_t{lanes} * bits(integers.dtype) / 8;
  Value* address = builder.CreatePtrAdd(
      panel, builder.CreateMul(k, builder.getInt64(static_cast<uint64_t>(bytes_of_k))));
  if (integers.depth > 1) {
    Value* word = builder.CreateAlignedLoad(words, address, llvm::Align(4));
    Values result;
    for (int j = 0; j < integers.depth; ++j) {
      result.push_back(integers.dtype == DType::U4
                           ? u4_of_word(builder, target, word, j, lanes)
                           : byte_of_word(builder, integers.dtype, word, j, lanes));
    }
    return result;
  }
  auto* bytes = llvm::FixedVectorType::get(builder.getInt8Ty(), n);
  Value* byte = builder.CreateAlignedLoad(bytes, address, llvm::Align(1));
  Value* wide = integers.dtype == DType::I8 ? builder.CreateSExt(byte, words)
                                            : builder.CreateZExt(byte, words);
  return {builder.CreateSIToFP(wide, llvm::FixedVectorType::get(builder.getFloatTy(), n))};
}

Values stage_vectors(EmitState& state, kernel::StageId stage) {
  StageEmitter emitter(state, stage);
  emitter.emit_hoisted(state.index.level());
  emitter.emit();
  Values values = state.locals[stage];
  values.resize(static_cast<size_t>(state.index.chunk().copies), values[0]);
  const auto lanes = static_cast<unsigned>(state.schedule.tiling->lanes);
  for (Value*& value : values) {
    if (!value->getType()->isVectorTy()) value = state.builder.CreateVectorSplat(lanes, value);
  }
  return values;
}

}  // namespace luminal::backends::cpu
