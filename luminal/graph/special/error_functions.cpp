// erfc and its inverse, of special_functions.h.
#include <limits>
#include <numbers>

#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/scaled_erfc.h"
#include "luminal/graph/operands/limits.h"
#include "luminal/graph/operands/signs.h"
#include "luminal/graph/primitives.h"
#include "luminal/graph/special/hyperbolic.h"
#include "luminal/graph/special/special_functions.h"

namespace luminal {

using composite::in_f64;

namespace {

constexpr double kErrorInfinity = composite::kInf;
constexpr double kErrorNaN = composite::kNotANumber;
// Beyond it the scaled tail is by a continued fraction, of so many terms.
constexpr double kTailFrom = 6.0;
constexpr int kTailTerms = 10;

// e^(x²)·erfc(x) of x ≥ 1. Far: 1/√π · 1/(x + ½/(x + 1/(x + 3/2/(x + …)))).
Tensor scaled_tail(const Tensor& x) {
  Tensor rest = clamp(x, kTailFrom);
  const Tensor far = rest;
  for (int i = kTailTerms; i >= 1; --i) rest = far + i * 0.5 / rest;
  return where(x < kTailFrom, composite::scaled_erfc(clamp(x, 1.0, kTailFrom)),
               std::numbers::inv_sqrtpi / rest);
}

// erfc(x) of x ≥ 0.
Tensor erfc_of_positive(const Tensor& x) {
  const Tensor far = exp(-square(x)) * scaled_tail(x);
  return where(x < 1.0, 1.0 - erf(x), where(isinf(x), 0.0, far));
}

Tensor erfc_of(const Tensor& x) {
  const Tensor tail = erfc_of_positive(abs(x));
  return where(isnan(x), x, where(x < 0.0, 2.0 - tail, tail));
}

// Winitzki's closed form is right to 2e-3; each step of Halley's cubes the error.
Tensor erfinv_from(const Tensor& rest, const Tensor& log_of_both) {
  constexpr double kFit = 0.147;
  const Tensor b = log_of_both * 0.5 + 2 / (std::numbers::pi * kFit);
  Tensor y = sqrt(sqrt(square(b) - log_of_both * (1 / kFit)) - b);
  constexpr double kSlope = 0.5 / std::numbers::inv_sqrtpi;  // √π / 2
  for (int i = 0; i < 2; ++i) {
    const Tensor step = (erfc_of_positive(y) - rest) * kSlope * exp(square(y));
    y = y + step / (y * step + 1.0);
  }
  return y;
}

Tensor erfinv_of(const Tensor& x) {
  const Tensor size = abs(x);
  const Tensor rest = 1.0 - size;
  const Tensor inside = clamp(rest, 1e-300, 1.0);
  const Tensor y = erfinv_from(inside, log(inside * (size + 1.0)));
  // Near 0 the slope is √π / 2, and the formula cancels.
  const Tensor near =
      size * (0.5 / std::numbers::inv_sqrtpi) * (square(size) * (std::numbers::pi / 12) + 1.0);
  const Tensor found = where(size < 1e-4, near, y);
  const Tensor end = where(eq(size, 1.0), kErrorInfinity, found);
  return where(size <= 1.0, composite::with_sign_of(end, x), kErrorNaN);
}

// -√2·erfc⁻¹(2p), by symmetry from the smaller side.
Tensor ndtri_of(const Tensor& p) {
  const Tensor lower = p < 0.5;
  const Tensor side = where(lower, p, 1.0 - p);
  const Tensor rest = side * 2.0;
  const Tensor inside = clamp(rest, 1e-300, 1.0);
  const Tensor y = erfinv_from(inside, log(inside * (2.0 - inside)));
  const Tensor near_half = (1.0 - rest) * (0.5 / std::numbers::inv_sqrtpi);
  Tensor size = where(rest > 1.0 - 1e-6, near_half, y) * std::numbers::sqrt2;
  size = where(eq(side, 0.0), kErrorInfinity, size);
  const Tensor known = logical_and(p >= 0.0, p <= 1.0);
  return where(known, where(lower, -size, size), kErrorNaN);
}

Tensor log_ndtr_of(const Tensor& x) {
  const Tensor t = x * (-1 / std::numbers::sqrt2);
  const Tensor deep = log(scaled_tail(t) * 0.5) - square(t);
  const Tensor usual = log1p(erfc_of_positive(abs(t)) * -0.5);
  const Tensor middle = log(erfc_of(t) * 0.5);
  Tensor result = where(t < 0.0, usual, where(t > 1.0, deep, middle));
  result = where(eq(x, -kErrorInfinity), -kErrorInfinity, result);
  return where(isnan(x), x, result);
}

Tensor erfcx_of(const Tensor& x) {
  const Tensor near = clamp(x, -30.0, 1.0);
  const Tensor small = exp(square(near)) * erfc_of(near);
  const Tensor large = where(isinf(x), 0.0, scaled_tail(x));
  return where(isnan(x), x, where(x < 1.0, where(x < -27.0, kErrorInfinity, small), large));
}

}  // namespace

Tensor erfc(const Tensor& x) { return in_f64(x, erfc_of); }
Tensor erfcx(const Tensor& x) { return in_f64(x, erfcx_of); }
Tensor erfinv(const Tensor& x) { return in_f64(x, erfinv_of); }
Tensor ndtri(const Tensor& x) { return in_f64(x, ndtri_of); }
Tensor log_ndtr(const Tensor& x) { return in_f64(x, log_ndtr_of); }

}  // namespace luminal
