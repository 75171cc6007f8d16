// Sizes of rows in fixed point (int8 split), which emit_fixed_point.h multiplies by small integers.
#pragma once

#include <cstdint>

#include "luminal/kernel/recognise/panels.h"
#include "luminal/shape/dtype.h"

namespace luminal::backends::cpu {

// int8 terms that each element is split into.
constexpr int kDigits = 4;

// Elements along k in one 32-bit word of a panel.
constexpr int64_t integers_per_word(DType integers) {
  return integers == DType::U4 ? kernel::kU4PerWord : kernel::kBytesPerWord;
}

// Whether quantisation groups of `block` elements can be multiplied this way: they must be whole
// vectors of a row, and the combined sum of two digits must fit 32 bits.
constexpr bool fits_fixed_point(DType integers, int64_t block) {
  return block % 8 == 0 && block <= (integers == DType::U4 ? 4096 : 256);
}

// Bytes of one group of a row. i8 become u8 by adding 128; the correction for that, the initial
// value of the sums, is stored behind the digits, one i32 per digit.
constexpr int64_t part_bytes(DType integers, int64_t block) {
  return (block + (integers == DType::I8 ? 4 : 0)) * kDigits;
}

}  // namespace luminal::backends::cpu
