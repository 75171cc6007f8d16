// Builder: the LLVM IR builder that all emitters use.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace luminal::backends::cpu {

using Builder = llvm::IRBuilder<>;

}  // namespace luminal::backends::cpu
