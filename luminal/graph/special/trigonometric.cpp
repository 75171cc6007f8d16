#include "luminal/graph/special/trigonometric.h"

#include <array>
#include <limits>
#include <numbers>

#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/polynomial.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/limits.h"
#include "luminal/graph/operands/signs.h"
#include "luminal/graph/primitives.h"

namespace luminal {

using composite::in_f64;

namespace {

// atan(t) of 0 ≤ t ≤ 1: the angle is halved three times, tan(a/2) = tan(a) / (1 + √(1 + tan²a)),
// to at most π/32; there nine terms of Taylor's series are exact to 2^-57.
Tensor atan_of_fraction(const Tensor& t) {
  Tensor half = t;
  for (int i = 0; i < 3; ++i) half = half / (sqrt(square(half) + 1.0) + 1.0);
  constexpr std::array kSeries = {1.0,       -1.0 / 3, 1.0 / 5,   -1.0 / 7, 1.0 / 9,
                                  -1.0 / 11, 1.0 / 13, -1.0 / 15, 1.0 / 17};
  return half * composite::polynomial(square(half), kSeries) * 8.0;
}

Tensor atan_of(const Tensor& x) {
  const Tensor size = abs(x);
  const Tensor steep = size > 1.0;
  const Tensor angle = atan_of_fraction(where(steep, prim::recip(size), size));
  return composite::with_sign_of(where(steep, composite::kPi / 2 - angle, angle), x);
}

// Half the angle is between the radius plus the far side and the near side.
Tensor asin_of(const Tensor& x) { return 2.0 * atan_of(x / (sqrt((1.0 - x) * (x + 1.0)) + 1.0)); }
Tensor acos_of(const Tensor& x) { return 2.0 * atan_of(sqrt((1.0 - x) / (x + 1.0))); }

Tensor atan2_of(const Tensor& y, const Tensor& x) {
  const Tensor height = abs(y), width = abs(x);
  const Tensor steep = width < height;
  const Tensor small = where(steep, width, height), large = where(steep, height, width);
  // 0/0 is 0, inf/inf is 1.
  Tensor t = small / large;
  t = where(eq(large, 0.0), 0.0, t);
  t = where(isinf(small), 1.0, t);
  Tensor angle = atan_of_fraction(t);
  angle = where(steep, composite::kPi / 2 - angle, angle);
  angle = where(composite::sign_bit(x), composite::kPi - angle, angle);
  const Tensor known = logical_and(eq(x, x), eq(y, y));
  return where(known, composite::with_sign_of(angle, y), composite::kNotANumber);
}

Tensor hypot_of(const Tensor& a, const Tensor& b) {
  const Tensor x = abs(a), y = abs(b);
  const Tensor large = where(x < y, y, x), small = where(x < y, x, y);
  // Scaled, so that squares of f64 don't overflow.
  const Tensor ratio = small / where(eq(large, 0.0), 1.0, large);
  const Tensor length = large * sqrt(square(ratio) + 1.0);
  const Tensor known = where(logical_and(eq(x, x), eq(y, y)), length, composite::kNotANumber);
  return where(logical_or(isinf(x), isinf(y)), composite::kInf, known);
}

// Of two operands in f64, broadcast and rounded to their dtype.
template <typename Function>
Tensor of_two(const Tensor& a, const Tensor& b, Function function) {
  const DType dtype = composite::float_dtype(composite::result_dtype(a, b));
  const auto [x, y] =
      broadcast_together(a.cast(dtype).cast(DType::F64), b.cast(dtype).cast(DType::F64));
  return function(x, y).cast(dtype);
}

}  // namespace

Tensor atan(const Tensor& x) { return in_f64(x, atan_of); }
Tensor asin(const Tensor& x) { return in_f64(x, asin_of); }
Tensor acos(const Tensor& x) { return in_f64(x, acos_of); }
Tensor atan2(const Tensor& y, const Tensor& x) { return of_two(y, x, atan2_of); }
Tensor hypot(const Tensor& a, const Tensor& b) { return of_two(a, b, hypot_of); }

Tensor copysign(const Tensor& size, const Tensor& sign) {
  const DType dtype = composite::float_dtype(composite::result_dtype(size, sign));
  const auto [x, y] = broadcast_together(size.cast(dtype), sign.cast(dtype));
  return composite::with_sign_of(abs(x), y);
}

}  // namespace luminal
