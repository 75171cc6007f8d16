// One element: how each dtype rounds or wraps a value, and how it is read from and written to
// memory. Floats are passed as double and integers as int64_t; both hold every value of their
// dtypes exactly.
#pragma once

#include <cstddef>
#include <cstdint>

#include "luminal/shape/dtype.h"

namespace luminal {

// The nearest value of a float dtype (ties to even; overflow gives infinity; subnormals kept).
double round_to(DType dtype, double value);
// The value modulo 2^bits of an integer dtype; bool: whether it is non-zero.
int64_t wrap_to(DType dtype, int64_t value);
// As C++ casts, but defined for every input: truncates toward zero, saturates at the ends of i64
// and wraps below that; NaN gives 0.
int64_t float_to_int(DType dtype, double value);

// The bit pattern of a value of a float dtype, in the low end of an integer, and back.
uint64_t float_bits(DType dtype, double value);
double float_value(DType dtype, uint64_t bits);
// Of the 16-bit ones.
uint16_t f16_bits(double value);
uint16_t bf16_bits(double value);
double f16_value(uint16_t bits);
double bf16_value(uint16_t bits);

// Element `index` of a buffer of `dtype`, for float dtypes, and for all others.
double load_float(DType dtype, const std::byte* data, int64_t index);
int64_t load_int(DType dtype, const std::byte* data, int64_t index);
// Stores a value that the dtype can represent (see round_to, wrap_to).
void store_float(DType dtype, std::byte* data, int64_t index, double value);
void store_int(DType dtype, std::byte* data, int64_t index, int64_t value);

}  // namespace luminal
