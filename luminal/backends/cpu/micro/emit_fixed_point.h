// FixedPointEmitter: products of rows of f32 with small integers, by dot products of bytes, as LLVM
// IR.
//
// In each part of k a row is whole numbers of some unit, a power of two: the largest of them has 30
// bits, four signed digits of 8. Bytes multiply and add four at a time and without error, where
// turning an integer into a float takes as long as multiplying it. What is lost is at most half a
// unit of each element, 2^-30 of the part's largest. A part with an infinite element or a NaN has a
// unit that is NaN.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/schedule/fixed_point.h"
#include "luminal/backends/cpu/stage/emit_loops.h"

namespace luminal::backends::cpu {

class FixedPointEmitter {
 public:
  // Rows that are multiplied at once, at most: their sums fill the registers.
  static constexpr int kMostRows = 4;

  // Parts of `block` elements, which fits_fixed_point.
  FixedPointEmitter(Builder& builder, LoopEmitter& loops, DType integers, int64_t block)
      : builder_(builder), loops_(loops), integers_(integers), block_(block) {}

  // A row of `parts` parts: the digits of each, part_bytes apart, and its unit.
  void emit_row(llvm::Value* row, llvm::Value* parts, llvm::Value* digits, llvm::Value* units);

  // For each row where the digits of a part start, and its unit; for each panel where its words
  // start. Gives Σ integer · x over the part, by row and panel.
  struct Row {
    llvm::Value *digits, *unit;
  };
  Values multiply(const std::vector<Row>& rows, const Values& panels);

 private:
  llvm::Value* largest_bits(llvm::Value* row);
  void store_digits(llvm::Value* row, llvm::Value* factor, llvm::Value* digits);
  std::vector<int> order_of_digits() const;
  void store_starts(const Values& wholes, llvm::Value* to);
  llvm::Value* rounded(llvm::Value* x);
  void keep_apart();
  Values multiply_group(const std::vector<Row>& rows, const Values& panels);
  Values first_sums(const std::vector<Row>& rows, size_t n_panels);
  Values factors_of_word(llvm::Value* word);
  llvm::Value* joined(const Values& sums, size_t first);

  int64_t at_once() const { return block_ % 16 == 0 ? 16 : 8; }  // elements of a row
  llvm::FixedVectorType* vector(llvm::Type* type, int64_t n);
  llvm::Value* i64(int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* at(llvm::Value* base, llvm::Value* bytes) {
    return builder_.CreatePtrAdd(base, bytes);
  }

  Builder& builder_;
  LoopEmitter& loops_;
  const DType integers_;
  const int64_t block_;
};

}  // namespace luminal::backends::cpu
