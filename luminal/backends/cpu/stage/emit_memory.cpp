#include "luminal/backends/cpu/stage/emit_memory.h"

#include "luminal/base/check.h"
#include "luminal/kernel/recognise/panels.h"

namespace luminal::backends::cpu {
namespace {

using llvm::Value;

using kernel::kU4PerWord;

llvm::Type* memory_type(llvm::LLVMContext& context, DType dtype, MemoryForm form) {
  if (dtype == DType::Bool) return llvm::Type::getInt8Ty(context);
  if (form == MemoryForm::Tensor && is_half(dtype)) {
    return llvm::Type::getInt16Ty(context);
  }
  return register_type(context, dtype);
}

llvm::Align element_align(llvm::Type* element) {
  return llvm::Align(element->getScalarSizeInBits() / 8);
}

bool has_stride(const LaneIndex& at, int64_t stride) {
  auto* constant = llvm::dyn_cast_or_null<llvm::ConstantInt>(at.stride);
  return at.kind == LaneKind::Affine && constant != nullptr && constant->getSExtValue() == stride;
}

}  // namespace

void emit_prefetch(Builder& builder, Value* address, uint32_t locality) {
  constexpr uint32_t kRead = 0, kData = 1;
  builder.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {builder.getPtrTy()},
      {address, builder.getInt32(kRead), builder.getInt32(locality), builder.getInt32(kData)});
}

Value* MemoryEmitter::load(DType dtype, MemoryForm form, Value* base, const LaneIndex& at,
                           bool whole_words) {
  if (dtype == DType::U4 && form == MemoryForm::Tensor) {
    return whole_words && has_stride(at, kU4PerWord) ? load_u4_of_words(base, at)
                                                     : load_u4(base, at);
  }
  llvm::Type* element = memory_type(builder_.getContext(), dtype, form);
  return to_register(dtype, form, load_elements(element, base, at));
}

Value* MemoryEmitter::load_where(Value* where, DType dtype, Value* base, const LaneIndex& at) {
  const Chunk& chunk = index_.chunk();
  Value* mask = chunk.mask == nullptr ? where : builder_.CreateAnd(where, chunk.mask);
  llvm::Type* element = memory_type(builder_.getContext(), dtype, MemoryForm::Tensor);
  const llvm::Align align = element_align(element);
  auto* type = llvm::FixedVectorType::get(element, chunk.lanes);
  Value* zeros = llvm::Constant::getNullValue(type);
  if (has_stride(at, 2)) {
    Value* vector = load_every_second(element, builder_.CreateGEP(element, base, at.base), mask);
    return to_register(dtype, MemoryForm::Tensor, vector);
  }
  if (!has_stride(at, 1)) {
    Value* addresses = builder_.CreateGEP(element, base, index_.vector(at));
    Value* vector = builder_.CreateMaskedGather(type, addresses, align, mask, zeros);
    return to_register(dtype, MemoryForm::Tensor, vector);
  }
  Value* address = builder_.CreateGEP(element, base, at.base);
  Value* vector = builder_.CreateMaskedLoad(type, address, align, mask, zeros);
  return to_register(dtype, MemoryForm::Tensor, vector);
}

// Two vectors of elements beside each other instead of a gather. The second one begins with the
// element before the last of the first, so that nothing past the last lane's element is read.
Value* MemoryEmitter::load_every_second(llvm::Type* element, Value* address, Value* mask) {
  const llvm::Align align = element_align(element);
  const int lanes = index_.chunk().lanes;
  auto* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
  std::vector<int> lower, upper, all;  // lanes of the mask by element; elements by lane
  for (int k = 0; k < lanes; ++k) {
    const int after = k + lanes - 1;
    lower.push_back(k % 2 == 0 ? k / 2 : lanes);
    upper.push_back(after % 2 == 0 ? after / 2 : lanes);
    all.push_back(2 * k < lanes ? 2 * k : 2 * k + 1);
  }
  const auto half = [&](int first, const std::vector<int>& active) -> Value* {
    Value* from =
        builder_.CreateGEP(element, address, builder_.getInt64(static_cast<uint64_t>(first)));
    if (mask == nullptr) return builder_.CreateAlignedLoad(type, from, align);
    Value* none = llvm::Constant::getNullValue(mask->getType());
    return builder_.CreateMaskedLoad(type, from, align,
                                     builder_.CreateShuffleVector(mask, none, active),
                                     llvm::Constant::getNullValue(type));
  };
  return builder_.CreateShuffleVector(half(0, lower), half(lanes - 1, upper), all);
}

// GEPs aren't `inbounds`: lane 0 of a reversed vector, or inactive lanes of a mask, may lie outside
// of the tensor.
Value* MemoryEmitter::load_elements(llvm::Type* element, Value* base, const LaneIndex& at) {
  const llvm::Align align = element_align(element);
  if (at.kind == LaneKind::Uniform) {
    return builder_.CreateAlignedLoad(element, builder_.CreateGEP(element, base, at.base), align);
  }
  const Chunk& chunk = index_.chunk();
  auto* type = llvm::FixedVectorType::get(element, chunk.lanes);
  const bool backwards = has_stride(at, -1);
  if (backwards || has_stride(at, 1)) {
    Value* first = at.base;
    if (backwards) first = builder_.CreateSub(first, builder_.getInt64(chunk.lanes - 1));
    Value* address = builder_.CreateGEP(element, base, first);
    Value* vector;
    if (chunk.mask == nullptr) {
      vector = builder_.CreateAlignedLoad(type, address, align);
    } else {
      Value* mask = backwards ? reversed(chunk.mask) : chunk.mask;
      vector =
          builder_.CreateMaskedLoad(type, address, align, mask, llvm::Constant::getNullValue(type));
    }
    return backwards ? reversed(vector) : vector;
  }
  if (has_stride(at, 2)) {
    return load_every_second(element, builder_.CreateGEP(element, base, at.base), chunk.mask);
  }
  return builder_.CreateMaskedGather(type, lane_addresses(element, base, at), align);
}

// The address of each lane; inactive lanes repeat lane 0, which is always in bounds.
Value* MemoryEmitter::lane_addresses(llvm::Type* element, Value* base, const LaneIndex& at) {
  const Chunk& chunk = index_.chunk();
  Value* offsets = index_.vector(at);
  if (chunk.mask != nullptr) {
    Value* first = at.kind == LaneKind::General
                       ? builder_.CreateExtractElement(offsets, uint64_t{0})
                       : at.base;
    Value* safe = builder_.CreateVectorSplat(chunk.lanes, first);
    offsets = builder_.CreateSelect(chunk.mask, offsets, safe);
  }
  return builder_.CreateGEP(element, base, offsets);
}

// Two elements per byte, the even one in the low half.
Value* MemoryEmitter::load_u4(Value* base, const LaneIndex& at) {
  llvm::Type* i8 = builder_.getInt8Ty();
  LaneIndex bytes = at;
  Value* position = at.base;
  if (at.kind == LaneKind::Uniform) {
    bytes.base = builder_.CreateLShr(at.base, 1);
  } else {
    position = index_.vector(at);
    bytes = {.kind = LaneKind::General, .vector = builder_.CreateLShr(position, 1)};
  }
  Value* pair = load_elements(i8, base, bytes);
  Value* odd = builder_.CreateTrunc(position, pair->getType());
  Value* one = llvm::ConstantInt::get(pair->getType(), 1);
  Value* shift = builder_.CreateShl(builder_.CreateAnd(odd, one), 2);
  return builder_.CreateAnd(builder_.CreateLShr(pair, shift),
                            llvm::ConstantInt::get(pair->getType(), 15));
}

// For lanes that are a 32-bit word apart, as in panels: each reads the same nibble of its word.
Value* MemoryEmitter::load_u4_of_words(Value* base, const LaneIndex& at) {
  const LaneIndex words{.kind = LaneKind::Affine,
                        .base = builder_.CreateLShr(at.base, 3),
                        .stride = builder_.getInt64(1)};
  Value* word = load_elements(builder_.getInt32Ty(), base, words);
  Value* inside = builder_.CreateAnd(at.base, builder_.getInt64(kU4PerWord - 1));
  Value* shift = builder_.CreateTrunc(builder_.CreateShl(inside, 2), builder_.getInt32Ty());
  const auto lanes = llvm::cast<llvm::FixedVectorType>(word->getType())->getElementCount();
  word = builder_.CreateLShr(word, builder_.CreateVectorSplat(lanes, shift));
  word = builder_.CreateAnd(word, llvm::ConstantInt::get(word->getType(), 15));
  return builder_.CreateTrunc(word, llvm::VectorType::get(builder_.getInt8Ty(), lanes));
}

void MemoryEmitter::store(DType dtype, MemoryForm form, Value* base, const LaneIndex& at,
                          Value* value, bool aligned) {
  LUMINAL_CHECK(dtype != DType::U4 || form == MemoryForm::Local, "kernels don't write u4 tensors");
  value = to_memory(dtype, form, value);
  llvm::Type* element = value->getType()->getScalarType();
  const llvm::Align align = element_align(element);
  const Chunk& chunk = index_.chunk();
  if (!value->getType()->isVectorTy()) {
    builder_.CreateAlignedStore(value, builder_.CreateGEP(element, base, at.base), align);
    return;
  }
  const bool backwards = has_stride(at, -1);
  if (!backwards && !has_stride(at, 1)) {
    Value* addresses = builder_.CreateGEP(element, base, index_.vector(at));
    builder_.CreateMaskedScatter(value, addresses, align, chunk.mask);
    return;
  }
  Value* first = at.base;
  if (backwards) {
    first = builder_.CreateSub(first, builder_.getInt64(chunk.lanes - 1));
    value = reversed(value);
  }
  Value* address = builder_.CreateGEP(element, base, first);
  if (chunk.mask != nullptr) {
    Value* mask = backwards ? reversed(chunk.mask) : chunk.mask;
    builder_.CreateMaskedStore(value, address, align, mask);
    return;
  }
  const uint64_t bytes = value->getType()->getPrimitiveSizeInBits() / 8;
  auto* store = builder_.CreateAlignedStore(value, address, aligned ? llvm::Align(bytes) : align);
  if (aligned) {
    auto* one = llvm::ConstantAsMetadata::get(builder_.getInt32(1));
    store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                       llvm::MDNode::get(builder_.getContext(), one));
  }
}

Value* MemoryEmitter::to_register(DType dtype, MemoryForm form, Value* x) {
  if (dtype == DType::Bool) {
    return builder_.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType()));
  }
  const bool half = is_half(dtype);
  return half && form == MemoryForm::Tensor ? ops_.from_half_bits(dtype, x) : x;
}

Value* MemoryEmitter::to_memory(DType dtype, MemoryForm form, Value* x) {
  if (dtype == DType::Bool) {
    return builder_.CreateZExt(x, x->getType()->getWithNewType(builder_.getInt8Ty()));
  }
  const bool half = is_half(dtype);
  return half && form == MemoryForm::Tensor ? ops_.to_half_bits(dtype, x) : x;
}

Value* MemoryEmitter::reversed(Value* vector) { return builder_.CreateVectorReverse(vector); }

}  // namespace luminal::backends::cpu
