// Transcendental ops as functions that kernels share. Inlined, an op is some thirty instructions,
// and its slow path as many again: a kernel with a hundred such ops would take seconds to compile.
// A kernel with many of them calls one function per op and vector width instead; the Jit compiles
// these once. The code is the same, so results are bitwise equal.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>
#include <string_view>

#include "luminal/backends/cpu/target/target.h"
#include "luminal/graph/op.h"

namespace luminal::backends::cpu {

// Whether an op on floats is transcendental.
bool is_transcendental(Op op);

// The function for f32 operands of this type, declared in the module: "luminal_sin_f32x16".
llvm::Function* declare_math(llvm::Module& module, Op op, llvm::Type* type);

// Defines the body of such a declared function. False if the name isn't that of one.
bool define_math(llvm::Function& function, const Target& target);

// A module that defines the function of this name; none if the name isn't that of one.
std::unique_ptr<llvm::Module> emit_math(llvm::LLVMContext& context, std::string_view symbol,
                                        const Target& target);

// Sets the attributes that every function compiled for a target has.
void set_target(llvm::Function& function, const Target& target);

}  // namespace luminal::backends::cpu
