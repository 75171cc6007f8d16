// A slow path for lanes that the fast path gets wrong: costs only a test if there are none.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>

namespace luminal::backends::cpu {

// `usual` or, if any lane is `rare`, the result of `instead` for all lanes. Splits the block at the
// builder's insertion point.
llvm::Value* where_any(llvm::IRBuilder<>& builder, llvm::Value* rare, llvm::Value* usual,
                       const std::function<llvm::Value*()>& instead);

}  // namespace luminal::backends::cpu
