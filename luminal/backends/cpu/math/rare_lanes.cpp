#include "luminal/backends/cpu/math/rare_lanes.h"

#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace luminal::backends::cpu {

llvm::Value* where_any(llvm::IRBuilder<>& builder, llvm::Value* rare, llvm::Value* usual,
                       const std::function<llvm::Value*()>& instead) {
  llvm::Value* any = rare;
  if (rare->getType()->isVectorTy()) any = builder.CreateOrReduce(rare);
  // If the block has no terminator yet, a temporary one to split before.
  llvm::Instruction* end_of_block = nullptr;
  if (builder.GetInsertPoint() == builder.GetInsertBlock()->end()) {
    end_of_block = builder.CreateUnreachable();
    builder.SetInsertPoint(end_of_block);
  }
  llvm::Instruction* next = &*builder.GetInsertPoint();
  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::MDNode* unlikely = llvm::MDBuilder(builder.getContext()).createBranchWeights(1, 100000);
  llvm::Instruction* end = llvm::SplitBlockAndInsertIfThen(any, next, false, unlikely);
  builder.SetInsertPoint(end);
  llvm::Value* other = instead();
  builder.SetInsertPoint(next->getParent(), next->getParent()->begin());
  llvm::PHINode* result = builder.CreatePHI(usual->getType(), 2);
  result->addIncoming(usual, before);
  result->addIncoming(other, end->getParent());
  builder.SetInsertPoint(next);
  if (end_of_block != nullptr) {
    builder.SetInsertPoint(next->getParent());
    end_of_block->eraseFromParent();
  }
  return result;
}

}  // namespace luminal::backends::cpu
