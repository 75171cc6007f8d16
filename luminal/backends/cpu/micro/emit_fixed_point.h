// FixedPointEmitter: products of f32 rows with small integers by int8 dot products (VNNI), as LLVM
// IR: the f32 values are split into int8 terms ("digits").
//
// In each quantisation group of k a row is represented as integer multiples of a unit, a power of
// two: the largest has 30 bits, four signed digits of 8. Byte dot products are exact and take four
// elements at a time, where converting an integer to float costs as much as multiplying it. The
// error is at most half a unit per element, 2^-30 of the group's maximum. A group with an infinity
// or a NaN has the unit NaN.
//
// Example: in a group whose maximum is 0.75 the unit is 2^-30. 0.3f is 322122560 units, with the
// digits 19, 51, 51, 64: 19 · 2^24 + 51 · 2^16 + 51 · 2^8 + 64. Against weights w the result is
// unit · (2^24 · Σ 19 w + 2^16 · Σ 51 w + …), each sum by its own dot product in i32.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include "luminal/backends/cpu/schedule/fixed_point.h"
#include "luminal/backends/cpu/schedule/micro_shape.h"
#include "luminal/backends/cpu/stage/emit_loops.h"

namespace luminal::backends::cpu {

// How FixedPointEmitter::multiply() runs through a group.
struct FixedPointPace {
  int64_t unroll_k = 0;  // elements at once; 0: the default
  int64_t prefetch_bytes = kPanelBytesAhead;
};

class FixedPointEmitter {
 public:
  // Maximum number of rows multiplied at once: their sums fill the registers.
  static constexpr int kMostRows = 4;

  // Groups of `block` elements; fits_fixed_point() must hold.
  FixedPointEmitter(Builder& builder, LoopEmitter& loops, DType integers, int64_t block,
                    FixedPointPace pace = {})
      : builder_(builder), loops_(loops), integers_(integers), block_(block), pace_(pace) {}

  // Converts a row of `parts` groups: writes the digits of each, part_bytes apart, and its unit.
  void emit_row(llvm::Value* row, llvm::Value* parts, llvm::Value* digits, llvm::Value* units);

  // Σ integer · x over one group, by row and panel. `rows` has for each row the address of the
  // group's digits and its unit, `panels` for each panel the address of the group's words.
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
  FixedPointPace pace_;
};

}  // namespace luminal::backends::cpu
