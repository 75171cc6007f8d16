// StrayRows: whether a kernel met an index outside of its dim, collected while it runs.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <map>

#include "luminal/backends/cpu/ir_builder.h"

namespace luminal::backends::cpu {

class StrayRows {
 public:
  explicit StrayRows(Builder& builder) : builder_(builder) {}

  // Whether an index lies outside.
  void count(llvm::Value* stray);
  // Bits of each lane that are 0 where its index lies inside.
  void collect(llvm::Value* bits);
  // At the function's end: leaves a mark in the scratch memory if there was one.
  void mark(llvm::Value* scratch);

 private:
  // A variable of the function that starts at 0, and becomes a register.
  llvm::Value* variable(llvm::Type* type);

  Builder& builder_;
  std::map<llvm::Type*, llvm::Value*> variables_;
};

}  // namespace luminal::backends::cpu
