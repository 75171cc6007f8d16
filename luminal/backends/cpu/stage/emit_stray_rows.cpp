#include "luminal/backends/cpu/stage/emit_stray_rows.h"

#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "luminal/backends/cpu/schedule/gathered_rows.h"

namespace luminal::backends::cpu {

using llvm::Value;

// Emits a placeholder call, which lower() replaces by a branch: splitting the block now would
// invalidate the blocks that the loop emitters hold.
Value* StrayRows::inside(Value* row, Value* rows) {
  llvm::Type* type = row->getType();
  auto* signature = llvm::FunctionType::get(type, {type, type}, false);
  llvm::Module* module = builder_.GetInsertBlock()->getModule();
  const std::string name = "luminal.row.i" + std::to_string(type->getIntegerBitWidth());
  looks_.push_back(builder_.CreateCall(module->getOrInsertFunction(name, signature), {row, rows}));
  return looks_.back();
}

void StrayRows::note(Value* scratch) {
  Value* at = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), scratch, kStrayRowMark);
  builder_.CreateStore(builder_.getInt32(1), at);
}

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

void StrayRows::collect(Value* bits) {
  Value* at = variable(bits->getType());
  Value* so_far = builder_.CreateLoad(bits->getType(), at);
  builder_.CreateStore(builder_.CreateOr(so_far, bits), at);
}

// Branchless: stores to the flag or to the dummy word after it.
void StrayRows::note_collected(Value* scratch) {
  for (const auto& [type, at] : variables_) {
    Value* bits = builder_.CreateOrReduce(builder_.CreateLoad(type, at));
    Value* stray = builder_.CreateICmpNE(bits, llvm::Constant::getNullValue(bits->getType()));
    Value* yes = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), scratch, kStrayRowMark);
    Value* no = builder_.CreateConstGEP1_64(builder_.getInt32Ty(), yes, 1);
    builder_.CreateStore(builder_.getInt32(1), builder_.CreateSelect(stray, yes, no));
  }
}

// Replaces each placeholder by a comparison and an unlikely branch. Accumulating a flag instead
// would occupy a register throughout.
void StrayRows::lower(Value* scratch) {
  llvm::MDNode* unlikely = llvm::MDBuilder(builder_.getContext()).createUnlikelyBranchWeights();
  Builder::InsertPointGuard guard(builder_);
  for (llvm::CallInst* look : looks_) {
    builder_.SetInsertPoint(look);
    Value* row = look->getArgOperand(0);
    Value* stray = builder_.CreateICmpUGE(row, look->getArgOperand(1));  // negative ones too
    llvm::BasicBlock* here = look->getParent();
    llvm::Instruction* end = llvm::SplitBlockAndInsertIfThen(stray, look, false, unlikely);
    builder_.SetInsertPoint(end);
    note(scratch);
    builder_.SetInsertPoint(look);
    llvm::PHINode* known = builder_.CreatePHI(row->getType(), 2);
    known->addIncoming(row, here);
    known->addIncoming(llvm::Constant::getNullValue(row->getType()), end->getParent());
    look->replaceAllUsesWith(known);
    llvm::Function* function = look->getCalledFunction();
    look->eraseFromParent();
    if (function->use_empty()) function->eraseFromParent();
  }
  looks_.clear();
}

}  // namespace luminal::backends::cpu
