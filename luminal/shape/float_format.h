// FloatFormat: how a float dtype is laid out, and the numbers that follow from it.
#pragma once

#include <bit>
#include <cstdint>

#include "luminal/shape/dtype.h"

namespace luminal {

// 2^exponent, for all exponents of f64.
constexpr double two_to(int exponent) {
  const bool is_normal = exponent >= -1022;
  return std::bit_cast<double>(is_normal ? static_cast<uint64_t>(exponent + 1023) << 52
                                         : uint64_t{1} << (exponent + 1074));
}

// A binary format as IEEE 754 has it: a sign, an exponent, a mantissa whose leading 1 isn't stored.
struct FloatFormat {
  int exponent_bits = 0;
  int mantissa = 0;      // stored bits
  int min_exponent = 0;  // of normal numbers
  int max_exponent = 0;

  // Of 1: the distance to the next larger number.
  constexpr double ulp() const { return two_to(-mantissa); }
  // The least number above 0, which is subnormal, and the least normal one.
  constexpr double smallest() const { return two_to(min_exponent - mantissa); }
  constexpr double smallest_normal() const { return two_to(min_exponent); }
  constexpr double largest() const { return (2 - ulp()) * two_to(max_exponent); }
};

constexpr FloatFormat ieee_format(int bits, int exponent_bits) {
  const int most = (1 << exponent_bits) / 2 - 1;
  return {.exponent_bits = exponent_bits,
          .mantissa = bits - 1 - exponent_bits,
          .min_exponent = 1 - most,
          .max_exponent = most};
}

// Of a float dtype.
FloatFormat float_format(DType dtype);

}  // namespace luminal
