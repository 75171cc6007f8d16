// StrayRows: run-time checks of gathered indices. An index out of range sets a flag and is replaced
// by one in range.
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

  // The index, or 0 (and the flag is set) if it isn't in 0 … rows − 1.
  llvm::Value* inside(llvm::Value* row, llvm::Value* rows);
  // Sets the flag unconditionally, for code that an index out of range has reached.
  void note(llvm::Value* scratch);
  // Accumulates lanes that are non-zero if the lane's index is out of range.
  void collect(llvm::Value* bits);
  // Called last: note_collected() before the function's return, lower() after everything is
  // emitted.
  void note_collected(llvm::Value* scratch);
  void lower(llvm::Value* scratch);

 private:
  // A local variable (alloca) initialised to 0, which SROA promotes to a register.
  llvm::Value* variable(llvm::Type* type);

  Builder& builder_;
  std::vector<llvm::CallInst*> looks_;
  std::map<llvm::Type*, llvm::Value*> variables_;
};

}  // namespace luminal::backends::cpu
