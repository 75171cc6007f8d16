// pow of arithmetic.h: integers by squaring, floats by 2^(b·log2|a|) with the sign corrected.
#include <fmt/format.h>

#include <cmath>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/elementwise.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/primitives.h"

namespace luminal {

using composite::constant_like;

namespace {

// For larger exponents repeated multiplication has more rounding errors than 2^(b·log2 a).
constexpr double kMaxMultiplied = 32;

// x^n for n ≥ 0 by repeated squaring.
Tensor power_by_squaring(Tensor x, uint64_t n) {
  if (n == 0) return constant_like(x, 1);
  Tensor result;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result = result.valid() ? prim::mul(result, x) : x;
    if (n > 1) x = prim::mul(x, x);
  }
  return result;
}

// The same with a run-time exponent. Negative exponents give 0, except for the bases 1 and -1.
Tensor int_power(const Tensor& a, const Tensor& b) {
  const int steps = bits(a.dtype()) - (is_unsigned(a.dtype()) ? 0 : 1);
  Tensor result = constant_like(a, 1);
  Tensor factor = a;
  for (int bit = 0; bit < steps; ++bit) {
    const Tensor is_set = ne(prim::bit_and(b, constant_like(b, int64_t{1} << bit)), 0);
    result = where(is_set, prim::mul(result, factor), result);
    if (bit + 1 < steps) factor = prim::mul(factor, factor);
  }
  if (is_unsigned(a.dtype())) return result;
  const Tensor odd = ne(prim::bit_and(b, constant_like(b, 1)), 0);
  const Tensor of_minus_one = where(odd, a, constant_like(a, 1));
  const Tensor negative = where(eq(abs(a), 1), of_minus_one, 0);
  return where(b < 0, negative, result);
}

// Like C's pow: x^0 and 1^y are 1 even for NaN, and -0 and -inf count as negative.
Tensor float_power(const Tensor& a, const Tensor& b) {
  const Tensor magnitude = abs(a);
  Tensor result = prim::exp2(prim::mul(b, prim::log2(magnitude)));
  result = where(eq(magnitude, 1), 1.0, result);

  const Tensor negative = logical_or(a < 0, prim::recip(a) < 0);
  const Tensor odd = eq(abs(prim::mod(b, constant_like(b, 2))), 1);
  const Tensor whole = logical_or(eq(prim::mod(b, constant_like(b, 1)), 0), isinf(b));
  result = where(logical_and(negative, odd), -result, result);
  const Tensor imaginary = logical_and(logical_and(a < 0, isfinite(a)), logical_not(whole));
  result = where(imaginary, NAN, result);
  return where(logical_or(eq(b, 0), eq(a, 1)), 1.0, result);
}

// f64 for f32: 2^y has the relative error y·2^-24 of an f32 logarithm y, which is up to 128.
DType power_dtype(DType dtype) {
  return dtype == DType::F32 ? DType::F64 : composite::compute_dtype(dtype);
}

Tensor power(const Tensor& a, const Tensor& b) {
  if (a.dtype() == DType::Bool) throw UserError("pow: bool isn't supported; cast one side to i64");
  if (is_int(a.dtype())) return int_power(a, b);
  const DType compute = power_dtype(a.dtype());
  return float_power(a.cast(compute), b.cast(compute)).cast(a.dtype());
}

}  // namespace

Tensor pow(const Tensor& a, const Tensor& b) {
  return composite::apply("pow", power, a, b, composite::common_dtype);
}

Tensor pow(const Tensor& a, const Scalar& b) {
  const DType dtype = promote(a.dtype(), b);
  if (b.kind == Scalar::Kind::Symbolic || dtype == DType::Bool) {
    return composite::apply("pow", power, a, b, composite::common_dtype);
  }
  if (is_int(dtype)) {
    if (b.integer >= 0) return power_by_squaring(a.cast(dtype), static_cast<uint64_t>(b.integer));
    throw UserError(
        fmt::format("pow: an integer to the power {} isn't an integer; cast {} to f32 first",
                    b.integer, a.describe()));
  }
  const Tensor base = a.cast(composite::compute_dtype(dtype));
  Tensor result;
  if (b.real == std::trunc(b.real) && std::abs(b.real) <= kMaxMultiplied) {
    result = power_by_squaring(base, static_cast<uint64_t>(std::abs(b.real)));
    if (b.real < 0) result = prim::recip(result);
  } else if (std::abs(b.real) == 0.5) {  // as in PyTorch: pow(-inf, 0.5) is NaN
    result = prim::sqrt(base);
    if (b.real < 0) result = prim::recip(result);
  } else {
    const Tensor wide = a.cast(dtype).cast(power_dtype(dtype));
    result = float_power(wide, constant_like(wide, b));
  }
  return result.cast(dtype);
}

Tensor pow(const Scalar& a, const Tensor& b) {
  const DType dtype = promote(b.dtype(), a);
  if (!is_float(dtype) || a.kind == Scalar::Kind::Symbolic || !(a.real > 0) || std::isinf(a.real)) {
    return composite::apply("pow", power, a, b, composite::common_dtype);
  }
  const Tensor exponent = b.cast(composite::compute_dtype(dtype));
  if (a.real == 1) return constant_like(exponent, 1).cast(dtype);
  return prim::exp2(exponent * std::log2(a.real)).cast(dtype);
}

}  // namespace luminal
