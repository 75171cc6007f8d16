// The sizes of rows as whole numbers, which emit_fixed_point.h multiplies with small integers.
#pragma once

#include <cstdint>

#include "luminal/kernel/recognise/panels.h"
#include "luminal/shape/dtype.h"

namespace luminal::backends::cpu {

// Signed ones of 8 bits, of each element.
constexpr int kDigits = 4;

// Elements along k of a panel's word.
constexpr int64_t integers_per_word(DType integers) {
  return integers == DType::U4 ? kernel::kU4PerWord : kernel::kBytesPerWord;
}

// Whether parts of `block` elements can be multiplied so: they are whole vectors of a row, and the
// sums of two digits have 32 bits.
constexpr bool fits_fixed_point(DType integers, int64_t block) {
  return block % 8 == 0 && block <= (integers == DType::U4 ? 4096 : 256);
}

// The bytes that a part of a row takes. i8 are made u8 by adding 128: behind the digits stands for
// each what that adds, to start sums with.
constexpr int64_t part_bytes(DType integers, int64_t block) {
  return (block + (integers == DType::I8 ? 4 : 0)) * kDigits;
}

}  // namespace luminal::backends::cpu
