// A branch for the lanes that the usual code gets wrong: nothing but a test while there are none.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>

namespace luminal::backends::cpu {

// `usual`, or where any lane is `rare` what `instead` makes (of all lanes). Splits the block where
// the builder stands.
llvm::Value* where_any(llvm::IRBuilder<>& builder, llvm::Value* rare, llvm::Value* usual,
                       const std::function<llvm::Value*()>& instead);

}  // namespace luminal::backends::cpu
