// Transcendental ops as functions that kernels share. In line an op is some thirty instructions,
// and its block for rare lanes as many again: a kernel of a hundred such ops would take seconds to
// compile. Where a kernel has many it calls one function for each kind of op and width of vector;
// the Jit compiles those once. The code is the same, so the bits are.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>
#include <string_view>

#include "luminal/backends/cpu/target/target.h"
#include "luminal/graph/op.h"

namespace luminal::backends::cpu {

// Whether an op on floats is one of those.
bool is_transcendental(Op op);

// The function for f32 operands of this type, declared in the module: "luminal_sin_f32x16".
llvm::Function* declare_math(llvm::Module& module, Op op, llvm::Type* type);

// Gives a function that is declared so its code. False where the name is no such function's.
bool define_math(llvm::Function& function, const Target& target);

// A module with the function of this name; none where it is no such function's.
std::unique_ptr<llvm::Module> emit_math(llvm::LLVMContext& context, std::string_view symbol,
                                        const Target& target);

// How all code is compiled for a target.
void set_target(llvm::Function& function, const Target& target);

}  // namespace luminal::backends::cpu
