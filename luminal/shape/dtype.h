// DType: the element types, and what may be asked of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "luminal/base/visibility.h"

namespace luminal {

enum class DType : uint8_t {
#define DTYPE(name, ...) name,
#include "luminal/shape/dtypes.def"
#undef DTYPE
};

enum class DTypeKind : uint8_t { Float, Int, Bool, Packed };

LUMINAL_API std::span<const DType> all_dtypes();
LUMINAL_API std::string_view name(DType dtype);                        // "bf16"
LUMINAL_API std::ostream& operator<<(std::ostream& out, DType dtype);  // its name
LUMINAL_API std::optional<DType> dtype_from_name(std::string_view text);
LUMINAL_API DTypeKind kind(DType dtype);
LUMINAL_API int bits(DType dtype);
// Bytes that `count` elements take, rounded up to whole bytes.
LUMINAL_API int64_t byte_size(DType dtype, int64_t count);
inline bool is_float(DType dtype) { return kind(dtype) == DTypeKind::Float; }
// A float of sixteen bits: kernels compute it in f32 and round.
inline bool is_half(DType dtype) { return dtype == DType::F16 || dtype == DType::BF16; }
// True for the integers, not for bool.
inline bool is_int(DType dtype) { return kind(dtype) == DTypeKind::Int; }
// True where no value is below 0: u8, bool and u4.
LUMINAL_API bool is_unsigned(DType dtype);

// The type that holds the result of an op on both, as PyTorch promotes: float over int over bool,
// wider over narrower, f16 with bf16 gives f32, u8 with a signed type the wider signed one.
LUMINAL_API DType promote(DType a, DType b);

// The dtype of a C++ element type: dtype_of<float>() is F32. The 16-bit floats have none.
template <typename T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, double>)
    return DType::F64;
  else if constexpr (std::is_same_v<T, float>)
    return DType::F32;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::Bool;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 8)
    return DType::I64;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 4)
    return DType::I32;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 2)
    return DType::I16;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 1)
    return DType::I8;
  else {
    static_assert(
        std::is_same_v<T, uint8_t>,
        "no dtype holds this C++ type: convert to float, double, bool, a signed integer or "
        "uint8_t");
    return DType::U8;
  }
}

}  // namespace luminal
