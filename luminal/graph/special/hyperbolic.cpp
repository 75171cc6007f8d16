#include "luminal/graph/special/hyperbolic.h"

#include <numbers>

#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/operands/limits.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/operands/signs.h"
#include "luminal/graph/primitives.h"

namespace luminal {

using composite::in_compute_dtype;
using composite::in_f64;

namespace {

// Beyond it 1 rounds away beside x².
constexpr double kRoundsOneAway = 0x1p28;

// Kahan's: log(u)·x / (u - 1) for u = 1 + x rounded. What rounding lost of x is lost in log(u) and
// in u - 1 alike, and their quotient changes slowly.
Tensor log1p_of(const Tensor& x) {
  const Tensor u = x + 1.0;
  const Tensor near = log(u) * (x / (u - 1.0));
  return where(eq(u, 1.0), x, where(eq(u, composite::kInf), u, near));
}

// Kahan's: (u - 1)·x / log(u) for u = e^x rounded; far from 0 just u - 1.
Tensor expm1_of(const Tensor& x) {
  const Tensor u = exp(x);
  const Tensor near = (u - 1.0) * (x / log(u));
  return where(eq(u, 1.0), x, where(abs(x) < 1.0, near, u - 1.0));
}

// Half of e^x for x ≥ 0: by squaring, because e^x itself may overflow.
Tensor half_exp(const Tensor& x) {
  const Tensor root = exp(x * 0.5);
  return root * 0.5 * root;
}

Tensor sinh_of(const Tensor& x) {
  const Tensor size = abs(x);
  const Tensor t = expm1_of(size);
  const Tensor near = (t + t / (t + 1.0)) * 0.5;
  return composite::with_sign_of(where(size < 20.0, near, half_exp(size)), x);
}

Tensor cosh_of(const Tensor& x) {
  const Tensor half = half_exp(abs(x));
  return half + 0.25 / half;
}

Tensor asinh_of(const Tensor& x) {
  const Tensor size = abs(x);
  const Tensor z = square(size);
  const Tensor near = log1p_of(size + z / (sqrt(z + 1.0) + 1.0));
  const Tensor far = log(size) + std::numbers::ln2;
  return composite::with_sign_of(where(size < kRoundsOneAway, near, far), x);
}

Tensor acosh_of(const Tensor& x) {
  const Tensor t = x - 1.0;
  const Tensor near = log1p_of(t + sqrt(t * (x + 1.0)));
  return where(x < kRoundsOneAway, near, log(x) + std::numbers::ln2);
}

Tensor atanh_of(const Tensor& x) {
  const Tensor size = abs(x);
  return composite::with_sign_of(log1p_of(size * 2.0 / (1.0 - size)) * 0.5, x);
}

// The larger one and the rest; equal infinities would give NaN as their difference.
Tensor of_larger(const Tensor& a, const Tensor& b, double base_log) {
  const DType dtype = composite::float_dtype(composite::result_dtype(a, b));
  const DType compute = composite::compute_dtype(dtype);
  const auto [x, y] = broadcast_together(a.cast(compute), b.cast(compute));
  const Tensor larger = maximum(x, y);
  const Tensor rest = log1p_of(exp(-abs(x - y) * base_log)) * (1 / base_log);
  return where(logical_and(isinf(x), eq(x, y)), x, larger + rest).cast(dtype);
}

}  // namespace

Tensor log1p(const Tensor& x) { return in_compute_dtype(x, log1p_of); }
Tensor expm1(const Tensor& x) { return in_f64(x, expm1_of); }

Tensor log10(const Tensor& x) {
  constexpr double kLog10Of2 = std::numbers::ln2 / std::numbers::ln10;
  return in_compute_dtype(x, [](const Tensor& v) { return prim::log2(v) * kLog10Of2; });
}

Tensor sinh(const Tensor& x) { return in_f64(x, sinh_of); }
Tensor cosh(const Tensor& x) { return in_f64(x, cosh_of); }
Tensor asinh(const Tensor& x) { return in_f64(x, asinh_of); }
Tensor acosh(const Tensor& x) { return in_f64(x, acosh_of); }
Tensor atanh(const Tensor& x) { return in_f64(x, atanh_of); }

Tensor logaddexp(const Tensor& a, const Tensor& b) { return of_larger(a, b, 1.0); }
Tensor logaddexp2(const Tensor& a, const Tensor& b) { return of_larger(a, b, std::numbers::ln2); }

}  // namespace luminal
