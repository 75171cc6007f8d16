#include "luminal/backends/cpu/emit_stray_rows.h"

#include "luminal/backends/cpu/gathered_rows.h"

namespace luminal::backends::cpu {

using llvm::Value;

Value* StrayRows::variable(llvm::Type* type) {
  Value*& known = variables_[type];
  if (known != nullptr) return known;
  Builder::InsertPointGuard guard(builder_);
  llvm::BasicBlock& entry = builder_.GetInsertBlock()->getParent()->getEntryBlock();
  builder_.SetInsertPoint(&entry, entry.begin());
  known = builder_.CreateAlloca(type);
  builder_.CreateStore(llvm::Constant::getNullValue(type), known);
  return known;
}

// A comparison and an addition with carry: no second register is needed.
void StrayRows::count(Value* stray) {
  llvm::Type* type = builder_.getInt64Ty();
  Value* at = variable(type);
  Value* so_far = builder_.CreateLoad(type, at);
  builder_.CreateStore(builder_.CreateAdd(so_far, builder_.CreateZExt(stray, type)), at);
}

void StrayRows::collect(Value* bits) {
  Value* at = variable(bits->getType());
  Value* so_far = builder_.CreateLoad(bits->getType(), at);
  builder_.CreateStore(builder_.CreateOr(so_far, bits), at);
}

// A store to one of two words, without a branch.
void StrayRows::mark(Value* scratch) {
  for (const auto& [type, at] : variables_) {
    Value* bits = builder_.CreateLoad(type, at);
    if (type->isVectorTy()) bits = builder_.CreateOrReduce(bits);
    Value* stray = builder_.CreateICmpNE(bits, llvm::Constant::getNullValue(bits->getType()));
    Value* yes = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), scratch, kStrayRowMark);
    Value* no = builder_.CreateConstGEP1_64(builder_.getInt32Ty(), yes, 1);
    builder_.CreateStore(builder_.getInt32(1), builder_.CreateSelect(stray, yes, no));
  }
}

}  // namespace luminal::backends::cpu
