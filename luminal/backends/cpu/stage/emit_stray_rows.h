// StrayRows: whether a kernel met an index outside of its dim, and what it reads in place of that.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <map>
#include <vector>

#include "luminal/backends/cpu/math/ir_builder.h"

namespace luminal::backends::cpu {

class StrayRows {
 public:
  explicit StrayRows(Builder& builder) : builder_(builder) {}

  // The index, or 0 if it isn't one of 0 … rows − 1.
  llvm::Value* inside(llvm::Value* row, llvm::Value* rows);
  // Where an index is known to lie outside.
  void note(llvm::Value* scratch);
  // Bits of each lane that are 0 where its index lies inside.
  void collect(llvm::Value* bits);
  // Before the function's end, and after all of it has been emitted.
  void note_collected(llvm::Value* scratch);
  void lower(llvm::Value* scratch);

 private:
  // A variable of the function that starts at 0, and becomes a register.
  llvm::Value* variable(llvm::Type* type);

  Builder& builder_;
  std::vector<llvm::CallInst*> looks_;
  std::map<llvm::Type*, llvm::Value*> variables_;
};

}  // namespace luminal::backends::cpu
