// One element for the oracle: integers that wrap, floats and their bits.
#pragma once

#include <cmath>
#include <cstdint>

#include "luminal/shape/dtype.h"
#include "tests/foreign/real.h"

namespace luminal::tests::foreign {

// The value of these bits, and the bits of a value of the dtype.
long double float_of_bits(DType dtype, uint64_t pattern);
uint64_t bits_of_float(DType dtype, long double value);

// Modulo 2^bits; of bool: whether it isn't 0.
inline int64_t wrapped(DType dtype, uint64_t value) {
  switch (dtype) {
    case DType::I32:
      return static_cast<int32_t>(value);
    case DType::I16:
      return static_cast<int16_t>(value);
    case DType::I8:
      return static_cast<int8_t>(value);
    case DType::U8:
      return static_cast<uint8_t>(value);
    case DType::Bool:
      return value != 0 ? 1 : 0;
    default:
      return static_cast<int64_t>(value);
  }
}

// Toward zero, saturated at the ends of i64, wrapped below; NaN is 0.
inline int64_t truncated(DType dtype, long double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63L) return wrapped(dtype, static_cast<uint64_t>(INT64_MAX));
  if (value <= -0x1p63L) return wrapped(dtype, static_cast<uint64_t>(INT64_MIN));
  return wrapped(dtype, static_cast<uint64_t>(static_cast<int64_t>(value)));
}

inline int64_t least_of(DType dtype) {
  switch (dtype) {
    case DType::I64:
      return INT64_MIN;
    case DType::I32:
      return INT32_MIN;
    case DType::I16:
      return INT16_MIN;
    case DType::I8:
      return INT8_MIN;
    default:
      return 0;
  }
}

}  // namespace luminal::tests::foreign
