// How the oracle reads elements in memory, and judges them.
#include <bit>
#include <cmath>
#include <cstring>

#include "tests/foreign/oracle.h"
#include "tests/foreign/scalars.h"

namespace luminal::tests::foreign {
namespace {

template <typename T>
T load(std::span<const std::byte> bytes, size_t k) {
  T value;
  std::memcpy(&value, bytes.data() + k * sizeof(T), sizeof(T));
  return value;
}

int64_t whole_at(DType dtype, std::span<const std::byte> bytes, size_t k) {
  switch (dtype) {
    case DType::I64:
      return load<int64_t>(bytes, k);
    case DType::I32:
      return load<int32_t>(bytes, k);
    case DType::I16:
      return load<int16_t>(bytes, k);
    case DType::I8:
      return load<int8_t>(bytes, k);
    case DType::U4:
      return std::to_integer<int64_t>(bytes[k / 2]) >> (k % 2 * 4) & 15;
    default:
      return load<uint8_t>(bytes, k);
  }
}

uint64_t bits_at(DType dtype, std::span<const std::byte> bytes, size_t k) {
  if (dtype == DType::F64) return load<uint64_t>(bytes, k);
  return dtype == DType::F32 ? load<uint32_t>(bytes, k) : load<uint16_t>(bytes, k);
}

}  // namespace

long double float_of_bits(DType dtype, uint64_t pattern) {
  if (dtype == DType::F64) return std::bit_cast<double>(pattern);
  if (dtype == DType::F32) return std::bit_cast<float>(static_cast<uint32_t>(pattern));
  const Format format = format_of(dtype);
  const int mantissa_bits = format.bits - 1;
  const auto mantissa = static_cast<long double>(pattern & ((1U << mantissa_bits) - 1));
  const int most = 2 * format.most + 1;
  const int exponent = static_cast<int>(pattern >> mantissa_bits) & most;
  const long double sign = (pattern & 0x8000U) != 0 ? -1 : 1;
  if (exponent == most) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, format.least - mantissa_bits);
  return sign * std::ldexp(mantissa + std::ldexp(1.0L, mantissa_bits),
                           exponent - format.most - mantissa_bits);
}

uint64_t bits_of_float(DType dtype, long double value) {
  if (dtype == DType::F64) return std::bit_cast<uint64_t>(static_cast<double>(value));
  if (dtype == DType::F32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  const Format format = format_of(dtype);
  const int mantissa_bits = format.bits - 1;
  if (std::isnan(value)) return 0x7FFFU;
  const uint64_t sign = std::signbit(value) ? 0x8000U : 0;
  const long double size = std::fabs(value);
  const auto most = static_cast<uint64_t>(2 * format.most + 1);
  if (std::isinf(size)) return sign | most << mantissa_bits;
  if (size < std::ldexp(1.0L, format.least)) {
    return sign | static_cast<uint64_t>(std::ldexp(size, mantissa_bits - format.least));
  }
  const int exponent = std::ilogb(size);
  const auto mantissa = static_cast<uint64_t>(std::ldexp(size, mantissa_bits - exponent));
  return sign | (static_cast<uint64_t>(exponent + format.most) << mantissa_bits) |
         (mantissa & ((1U << mantissa_bits) - 1));
}

Tensor decoded(DType dtype, std::vector<int64_t> sizes, std::span<const std::byte> bytes) {
  Tensor tensor{.dtype = dtype, .sizes = std::move(sizes)};
  const auto count = static_cast<size_t>(count_of(tensor.sizes));
  for (size_t k = 0; k < count; ++k) {
    if (is_float(dtype)) {
      tensor.reals.push_back(point(float_of_bits(dtype, bits_at(dtype, bytes, k))));
    } else {
      tensor.wholes.push_back({whole_at(dtype, bytes, k), true});
    }
  }
  return tensor;
}

void store_bits(DType dtype, std::vector<std::byte>& bytes, size_t k, uint64_t pattern) {
  if (dtype == DType::U4) {
    bytes[k / 2] |= static_cast<std::byte>((pattern & 15) << (k % 2 * 4));
    return;
  }
  const size_t width = static_cast<size_t>(bits(dtype)) / 8;
  std::memcpy(bytes.data() + k * width, &pattern, width);
}

std::vector<std::byte> encoded(const Tensor& tensor) {
  std::vector<std::byte> bytes(bytes_of(tensor.dtype, count_of(tensor.sizes)));
  for (size_t k = 0; k < tensor.count(); ++k) {
    uint64_t pattern = 0;
    if (is_float(tensor.dtype)) {
      const Real& x = tensor.reals[k];
      pattern = bits_of_float(tensor.dtype, x.is_nan() ? NAN : x.low);
    } else {
      pattern = static_cast<uint64_t>(tensor.wholes[k].value);
    }
    store_bits(tensor.dtype, bytes, k, pattern);
  }
  return bytes;
}

Judgement judge_element(const Tensor& wanted, const Tensor& got, size_t k) {
  if (!is_float(wanted.dtype)) {
    const Whole& whole = wanted.wholes[k];
    if (!whole.known) return Judgement::Unknown;
    return whole.value == got.wholes[k].value ? Judgement::Right : Judgement::Wrong;
  }
  const Real& real = wanted.reals[k];
  if (real.is_anything()) return Judgement::Unknown;
  const Real& value = got.reals[k];
  if (value.is_nan()) return real.nan ? Judgement::Right : Judgement::Wrong;
  // One that lies outside pulls an end of the hull.
  const Real both = hull({real.low, real.high, false}, value);
  const bool inside = real.has_numbers() && both.low == real.low && both.high == real.high &&
                      std::signbit(both.low) == std::signbit(real.low) &&
                      std::signbit(both.high) == std::signbit(real.high);
  return inside ? Judgement::Right : Judgement::Wrong;
}

}  // namespace luminal::tests::foreign
