// The transcendental primitives as LLVM IR on scalars and vectors: polynomials for f32, the host's
// C library for f64 and for the rare lanes outside the range of a polynomial.
//
// Maximum errors over all f32 (tests/backends/cpu/vector_math_all_test.cpp): exp2 0.88, log2 1.00,
// sin 1.55 ULP; mod is exact.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "luminal/backends/cpu/target/target.h"

namespace luminal::backends::cpu {

class VectorMath {
 public:
  // Rare lanes need a branch, which splits the block at the builder's insertion point.
  VectorMath(llvm::IRBuilder<>& builder, const Target& target)
      : builder_(builder), target_(target) {}

  // Arguments and results are float or double, or vectors of them.
  llvm::Value* exp2(llvm::Value* x);
  llvm::Value* log2(llvm::Value* x);
  llvm::Value* sin(llvm::Value* x);
  llvm::Value* mod(llvm::Value* a, llvm::Value* b);

 private:
  struct Split {
    llvm::Value *exponent, *t;
    bool special;  // whether zeros, infinities and NaN are handled
  };
  Split split_for_log(llvm::Value* x);
  llvm::Value* real(llvm::Value* like, double value);
  llvm::Value* integer(llvm::Value* like, uint32_t value);
  llvm::Value* bits(llvm::Value* x);
  llvm::Value* from_bits(llvm::Value* x);
  llvm::Value* fma(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  llvm::Value* horner(llvm::Value* x, std::initializer_list<double> highest_first);
  llvm::Value* scale(llvm::Value* x, llvm::Value* exponent, llvm::Value* wanted);
  llvm::Value* abs(llvm::Value* x);
  llvm::Value* on_host(const char* name, std::initializer_list<llvm::Value*> arguments);
  llvm::Value* on_rare_lanes(llvm::Value* rare, llvm::Value* usual, const char* name,
                             std::initializer_list<llvm::Value*> arguments);
  llvm::Value* call(const char* name, llvm::Value* start, llvm::ArrayRef<llvm::Value*> arguments,
                    llvm::Value* lanes);

  llvm::IRBuilder<>& builder_;
  const Target& target_;
};

}  // namespace luminal::backends::cpu
