// Scalar: a number, a bool or a symbolic integer that may stand beside a tensor in an expression.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "luminal/base/visibility.h"
#include "luminal/shape/dtype.h"
#include "luminal/shape/expr.h"

namespace luminal {

struct LUMINAL_API Scalar {
  enum class Kind : uint8_t { Float, Int, Bool, Symbolic };

  template <typename T>
    requires std::is_arithmetic_v<T>
  Scalar(T value) {  // NOLINT: a number is a Scalar
    if constexpr (std::is_same_v<T, bool>) {
      kind = Kind::Bool;
      integer = value;
      real = value;
    } else if constexpr (std::is_integral_v<T>) {
      kind = Kind::Int;
      integer = static_cast<int64_t>(value);
      real = static_cast<double>(value);
    } else {
      kind = Kind::Float;
      real = static_cast<double>(value);
    }
  }
  Scalar(Expr value) : kind(Kind::Symbolic), symbolic(value) {}  // NOLINT: an Expr is a Scalar

  Kind kind = Kind::Float;
  double real = 0;      // Float, Int, Bool
  int64_t integer = 0;  // Int, Bool
  Expr symbolic;        // Symbolic
};

// The dtype of an op between a tensor of `dtype` and `scalar`, as PyTorch has it: a scalar only
// changes the kind (a float beside integers gives f32, an integer beside bool i64).
LUMINAL_API DType promote(DType dtype, const Scalar& scalar);

}  // namespace luminal
