#include "luminal/shape/scalar.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "luminal/base/check.h"
#include "luminal/shape/dtype_traits.h"

namespace luminal {
namespace {

// Rounds the bits of a double in one step: going through f32 would round twice.
double round_bits(double value, FloatFormat format) {
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

// Formats with its exponents are the upper bits of an f32.
constexpr FloatFormat kF32 = DTypeTraits<DType::F32>::format;

uint64_t exponent_mask(FloatFormat format) {
  return ((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa;
}

uint64_t to_pattern(double value, FloatFormat format) {
  const uint64_t sign = uint64_t{std::signbit(value)} << (format.exponent_bits + format.mantissa);
  if (std::isnan(value)) {
    return sign | exponent_mask(format) | uint64_t{1} << (format.mantissa - 1);
  }
  value = round_bits(value, format);
  if (format.exponent_bits == kF32.exponent_bits) {
    return std::bit_cast<uint32_t>(static_cast<float>(value)) >> (kF32.mantissa - format.mantissa);
  }
  if (std::isinf(value)) return sign | exponent_mask(format);
  value = std::fabs(value);
  // In units of the last place. The leading 1 of a normal number adds 1 to the exponent's field.
  const int exponent =
      value == 0 ? format.min_exponent : std::max(std::ilogb(value), format.min_exponent);
  const auto units = static_cast<uint64_t>(std::ldexp(value, format.mantissa - exponent));
  const auto field = static_cast<uint64_t>(exponent - format.min_exponent);
  return sign | ((field << format.mantissa) + units);
}

double from_pattern(uint64_t bits, FloatFormat format) {
  if (format.exponent_bits == kF32.exponent_bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits << (kF32.mantissa - format.mantissa)));
  }
  const double sign = bits >> (format.exponent_bits + format.mantissa) & 1 ? -1.0 : 1.0;
  const uint64_t leading = uint64_t{1} << format.mantissa;
  const uint64_t mantissa = bits & (leading - 1);
  const uint64_t field = bits & exponent_mask(format);
  if (field == exponent_mask(format)) {
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  }
  const int unit = format.min_exponent - format.mantissa;
  if (field == 0) return sign * std::ldexp(static_cast<double>(mantissa), unit);
  const int exponent = static_cast<int>(field >> format.mantissa) - 1;
  return sign * std::ldexp(static_cast<double>(mantissa + leading), exponent + unit);
}

// Values of float dtypes that C++ has a type for are that type's; others go by their bits.
template <typename Traits>
constexpr bool kIsNative = std::is_floating_point_v<typename Traits::Storage>;

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

double round_to(DType dtype, double value) {
  return with_traits(dtype, [&]<typename Traits>(Traits) -> double {
    if constexpr (kIsNative<Traits>) {
      return static_cast<typename Traits::Storage>(value);
    } else if constexpr (Traits::kind == DTypeKind::Float) {
      return round_bits(value, Traits::format);
    } else {
      wrong_kind(dtype, "a float type");
    }
  });
}

int64_t wrap_to(DType dtype, int64_t value) {
  return with_traits(dtype, [&]<typename Traits>(Traits) -> int64_t {
    if constexpr (Traits::kind == DTypeKind::Int) {
      using Integer = typename Traits::Storage;
      return static_cast<Integer>(value);
    } else if constexpr (Traits::kind == DTypeKind::Bool) {
      return value != 0;
    } else if constexpr (Traits::kind == DTypeKind::Packed) {
      return value & 15;
    } else {
      wrong_kind(dtype, "an integer type");
    }
  });
}

int64_t float_to_int(DType dtype, double value) {
  if (dtype == DType::Bool) return value != 0;  // NaN is not zero
  if (std::isnan(value)) return 0;
  constexpr double kEnd = 9223372036854775808.0;  // 2^63
  if (value >= kEnd) return wrap_to(dtype, std::numeric_limits<int64_t>::max());
  if (value < -kEnd) return wrap_to(dtype, std::numeric_limits<int64_t>::min());
  return wrap_to(dtype, static_cast<int64_t>(value));
}

uint64_t float_bits(DType dtype, double value) {
  return with_traits(dtype, [&]<typename Traits>(Traits) -> uint64_t {
    if constexpr (std::is_same_v<typename Traits::Storage, double>) {
      return std::bit_cast<uint64_t>(value);
    } else if constexpr (std::is_same_v<typename Traits::Storage, float>) {
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    } else if constexpr (Traits::kind == DTypeKind::Float) {
      return to_pattern(value, Traits::format);
    } else {
      wrong_kind(dtype, "a float type");
    }
  });
}

double float_value(DType dtype, uint64_t bits) {
  return with_traits(dtype, [&]<typename Traits>(Traits) -> double {
    if constexpr (std::is_same_v<typename Traits::Storage, double>) {
      return std::bit_cast<double>(bits);
    } else if constexpr (Traits::kind == DTypeKind::Float) {
      return from_pattern(bits, Traits::format);
    } else {
      wrong_kind(dtype, "a float type");
    }
  });
}

uint16_t f16_bits(double value) { return static_cast<uint16_t>(float_bits(DType::F16, value)); }
uint16_t bf16_bits(double value) { return static_cast<uint16_t>(float_bits(DType::BF16, value)); }
double f16_value(uint16_t bits) { return float_value(DType::F16, bits); }
double bf16_value(uint16_t bits) { return float_value(DType::BF16, bits); }

double load_float(DType dtype, const std::byte* data, int64_t index) {
  return with_traits(dtype, [&]<typename Traits>(Traits) -> double {
    if constexpr (kIsNative<Traits>) {
      return load_as<typename Traits::Storage>(data, index);
    } else if constexpr (Traits::kind == DTypeKind::Float) {
      return from_pattern(load_as<typename Traits::Storage>(data, index), Traits::format);
    } else {
      wrong_kind(dtype, "a float type");
    }
  });
}

int64_t load_int(DType dtype, const std::byte* data, int64_t index) {
  return with_traits(dtype, [&]<typename Traits>(Traits) -> int64_t {
    if constexpr (Traits::kind == DTypeKind::Int) {
      return load_as<typename Traits::Storage>(data, index);
    } else if constexpr (Traits::kind == DTypeKind::Bool) {
      return load_as<typename Traits::Storage>(data, index) != 0;
    } else if constexpr (Traits::kind == DTypeKind::Packed) {
      return load_u4(data, index);
    } else {
      wrong_kind(dtype, "an integer type");
    }
  });
}

void store_float(DType dtype, std::byte* data, int64_t index, double value) {
  with_traits(dtype, [&]<typename Traits>(Traits) {
    using Storage = typename Traits::Storage;
    if constexpr (kIsNative<Traits>) {
      store_as(data, index, static_cast<Storage>(value));
    } else if constexpr (Traits::kind == DTypeKind::Float) {
      store_as(data, index, static_cast<Storage>(to_pattern(value, Traits::format)));
    } else {
      wrong_kind(dtype, "a float type");
    }
  });
}

void store_int(DType dtype, std::byte* data, int64_t index, int64_t value) {
  with_traits(dtype, [&]<typename Traits>(Traits) {
    using Storage = typename Traits::Storage;
    if constexpr (Traits::kind == DTypeKind::Int) {
      store_as(data, index, static_cast<Storage>(value));
    } else if constexpr (Traits::kind == DTypeKind::Bool) {
      store_as(data, index, static_cast<Storage>(value != 0));
    } else if constexpr (Traits::kind == DTypeKind::Packed) {
      store_u4(data, index, value);
    } else {
      wrong_kind(dtype, "an integer type");
    }
  });
}

}  // namespace luminal
