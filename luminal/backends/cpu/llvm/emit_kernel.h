// emit_kernel: a kernel as an LLVM module with one function,
//   void kernel(const void* const* params, const int64_t* variables, int64_t begin, int64_t end,
//               void* scratch)
// that runs the outer points begin … end − 1, counted row-major over the outer loops.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>

#include "luminal/backends/cpu/schedule/schedule.h"
#include "luminal/backends/cpu/target/target.h"

namespace luminal::backends::cpu {

inline constexpr const char* kKernelSymbol = "kernel";

std::unique_ptr<llvm::Module> emit_kernel(llvm::LLVMContext& context, const Schedule& schedule,
                                          const Target& target, const EmitOptions& options);

}  // namespace luminal::backends::cpu
