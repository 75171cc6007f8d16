#include "luminal/shape/scalar.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "luminal/base/check.h"

namespace luminal {
namespace {

// A binary float format with `mantissa` explicit bits and exponents min … max of normal numbers.
struct Format {
  int mantissa;
  int min_exponent;
  int max_exponent;
};
constexpr Format kF16 = {10, -14, 15};
constexpr Format kBF16 = {7, -126, 127};

// Rounds a double in one step: going through f32 would round twice.
double round_bits(double value, Format format) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent = std::ilogb(value);
  double rounded;
  if (exponent >= format.min_exponent) {
    const int drop = 52 - format.mantissa;
    uint64_t bits = std::bit_cast<uint64_t>(value);
    bits += (uint64_t{1} << (drop - 1)) - 1 + ((bits >> drop) & 1);
    bits &= ~((uint64_t{1} << drop) - 1);
    rounded = std::bit_cast<double>(bits);
  } else {
    const int unit = format.min_exponent - format.mantissa;  // the subnormals' spacing
    rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  }
  if (std::fabs(rounded) >= std::ldexp(1.0, format.max_exponent + 1)) {
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  }
  return rounded;
}

template <typename T>
T load_as(const std::byte* data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
void store_as(std::byte* data, int64_t index, T value) {
  std::memcpy(data + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

int64_t load_u4(const std::byte* data, int64_t index) {
  auto pair = static_cast<uint8_t>(data[index / 2]);
  return index % 2 == 0 ? pair & 15 : pair >> 4;
}

void store_u4(std::byte* data, int64_t index, int64_t value) {
  auto& pair = data[index / 2];
  auto nibble = static_cast<std::byte>(value & 15);
  pair =
      index % 2 == 0 ? (pair & std::byte{0xf0}) | nibble : (pair & std::byte{0x0f}) | (nibble << 4);
}

[[noreturn]] void wrong_kind(DType dtype, const char* wanted) {
  LUMINAL_CHECK(false, std::string(name(dtype)) + " is not " + wanted);
  __builtin_unreachable();
}

}  // namespace

uint16_t f16_bits(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7e00;
  value = std::fabs(round_bits(value, kF16));
  if (std::isinf(value)) return sign | 0x7c00;
  if (value < std::ldexp(1.0, kF16.min_exponent)) {
    return sign | static_cast<uint16_t>(std::ldexp(value, 24));
  }
  int exponent = std::ilogb(value);
  auto mantissa = static_cast<uint16_t>(std::ldexp(value, 10 - exponent) - 1024.0);
  return static_cast<uint16_t>(sign | ((exponent + 15) << 10) | mantissa);
}

double f16_value(uint16_t bits) {
  const double sign = (bits & 0x8000) ? -1.0 : 1.0;
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  if (exponent == 31) {
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

uint16_t bf16_bits(double value) {
  if (std::isnan(value)) return std::signbit(value) ? 0xffc0 : 0x7fc0;
  // Exact: a value of bf16 is a value of f32.
  auto rounded = static_cast<float>(round_bits(value, kBF16));
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(rounded) >> 16);
}

double bf16_value(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::F64:
      return value;
    case DType::F32:
      return static_cast<float>(value);
    case DType::F16:
      return round_bits(value, kF16);
    case DType::BF16:
      return round_bits(value, kBF16);
    case DType::I64:
    case DType::I32:
    case DType::I16:
    case DType::I8:
    case DType::U8:
    case DType::Bool:
    case DType::U4:
      break;
  }
  wrong_kind(dtype, "a float type");
}

int64_t wrap_to(DType dtype, int64_t value) {
  switch (dtype) {
    case DType::I64:
      return value;
    case DType::I32:
      return static_cast<int32_t>(value);
    case DType::I16:
      return static_cast<int16_t>(value);
    case DType::I8:
      return static_cast<int8_t>(value);
    case DType::U8:
      return static_cast<uint8_t>(value);
    case DType::Bool:
      return value != 0;
    case DType::U4:
      return value & 15;
    case DType::F64:
    case DType::F32:
    case DType::F16:
    case DType::BF16:
      break;
  }
  wrong_kind(dtype, "an integer type");
}

int64_t float_to_int(DType dtype, double value) {
  if (dtype == DType::Bool) return value != 0;  // NaN is not zero
  if (std::isnan(value)) return 0;
  constexpr double kEnd = 9223372036854775808.0;  // 2^63
  if (value >= kEnd) return wrap_to(dtype, std::numeric_limits<int64_t>::max());
  if (value < -kEnd) return wrap_to(dtype, std::numeric_limits<int64_t>::min());
  return wrap_to(dtype, static_cast<int64_t>(value));
}

double load_float(DType dtype, const std::byte* data, int64_t index) {
  switch (dtype) {
    case DType::F64:
      return load_as<double>(data, index);
    case DType::F32:
      return load_as<float>(data, index);
    case DType::F16:
      return f16_value(load_as<uint16_t>(data, index));
    case DType::BF16:
      return bf16_value(load_as<uint16_t>(data, index));
    case DType::I64:
    case DType::I32:
    case DType::I16:
    case DType::I8:
    case DType::U8:
    case DType::Bool:
    case DType::U4:
      break;
  }
  wrong_kind(dtype, "a float type");
}

int64_t load_int(DType dtype, const std::byte* data, int64_t index) {
  switch (dtype) {
    case DType::I64:
      return load_as<int64_t>(data, index);
    case DType::I32:
      return load_as<int32_t>(data, index);
    case DType::I16:
      return load_as<int16_t>(data, index);
    case DType::I8:
      return load_as<int8_t>(data, index);
    case DType::U8:
      return load_as<uint8_t>(data, index);
    case DType::Bool:
      return load_as<uint8_t>(data, index) != 0;
    case DType::U4:
      return load_u4(data, index);
    case DType::F64:
    case DType::F32:
    case DType::F16:
    case DType::BF16:
      break;
  }
  wrong_kind(dtype, "an integer type");
}

void store_float(DType dtype, std::byte* data, int64_t index, double value) {
  switch (dtype) {
    case DType::F64:
      return store_as(data, index, value);
    case DType::F32:
      return store_as(data, index, static_cast<float>(value));
    case DType::F16:
      return store_as(data, index, f16_bits(value));
    case DType::BF16:
      return store_as(data, index, bf16_bits(value));
    case DType::I64:
    case DType::I32:
    case DType::I16:
    case DType::I8:
    case DType::U8:
    case DType::Bool:
    case DType::U4:
      break;
  }
  wrong_kind(dtype, "a float type");
}

void store_int(DType dtype, std::byte* data, int64_t index, int64_t value) {
  switch (dtype) {
    case DType::I64:
      return store_as(data, index, value);
    case DType::I32:
      return store_as(data, index, static_cast<int32_t>(value));
    case DType::I16:
      return store_as(data, index, static_cast<int16_t>(value));
    case DType::I8:
      return store_as(data, index, static_cast<int8_t>(value));
    case DType::U8:
      return store_as(data, index, static_cast<uint8_t>(value));
    case DType::Bool:
      return store_as(data, index, static_cast<uint8_t>(value != 0));
    case DType::U4:
      return store_u4(data, index, value);
    case DType::F64:
    case DType::F32:
    case DType::F16:
    case DType::BF16:
      break;
  }
  wrong_kind(dtype, "an integer type");
}

}  // namespace luminal
