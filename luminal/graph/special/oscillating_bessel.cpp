// The Bessel functions of special_functions.h that oscillate or decay, in f64: power series near 0;
// far from it asymptotic series, or an integral by the trapezoidal rule.
#include <cmath>
#include <numbers>
#include <vector>

#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/polynomial.h"
#include "luminal/graph/operands/limits.h"
#include "luminal/graph/operands/signs.h"
#include "luminal/graph/primitives.h"
#include "luminal/graph/special/special_functions.h"

namespace luminal {

using composite::in_f64;

namespace {

// At the edge the power series has cancelled to 1e-11, and the asymptotic one is exact to 1e-12.
constexpr double kOscillatesFrom = 14.0;
constexpr int kSeriesTerms = 40, kHankelTerms = 13;
// From here on 20 nodes, 0.3 of the integrand's width apart, are exact to 1e-13.
constexpr double kDecaysFrom = 2.0;
constexpr double kNodeStep = 0.3;
constexpr int kNodes = 20;

// Coefficients of (x/2)^(2k): those of the function, and those of its logarithmic companion, by
// harmonic numbers. `sign` is -1 for functions that oscillate.
struct BesselSeries {
  std::vector<double> plain, companion;
};

BesselSeries bessel_series(int order, int sign) {
  BesselSeries series;
  double term = 1, harmonic = 0;
  for (int k = 0; k < kSeriesTerms; ++k) {
    if (k > 0) {
      term *= static_cast<double>(sign) / (static_cast<double>(k) * (k + order));
      harmonic += 1.0 / k;
    }
    series.plain.push_back(term);
    // ψ(k + 1), or ψ(k + 1) + ψ(k + 2).
    const double digamma_of_k = harmonic - std::numbers::egamma;
    series.companion.push_back(term *
                               (order == 0 ? digamma_of_k : 2 * digamma_of_k + 1.0 / (k + 1)));
  }
  return series;
}

// √(2/(πx))·(P cos χ - Q sin χ), and with sine and cosine exchanged.
struct Hankel {
  Tensor first, second;
};

Hankel hankel(int order, const Tensor& x) {
  std::vector<double> even, odd;
  double term = 1;
  for (int k = 0; k < 2 * kHankelTerms; ++k) {
    if (k > 0) {
      const double step = 2 * k - 1;
      term *= (4.0 * order * order - step * step) / (8.0 * k);
    }
    const double signed_term = k / 2 % 2 == 0 ? term : -term;
    (k % 2 == 0 ? even : odd).push_back(signed_term);
  }
  const Tensor inverse = prim::recip(x), z = square(inverse);
  const Tensor p = composite::polynomial(z, even), q = composite::polynomial(z, odd) * inverse;
  const Tensor phase = x - (order * 0.5 + 0.25) * composite::kPi;
  const Tensor size = sqrt(inverse * (2 * std::numbers::inv_pi));
  const Tensor s = sin(phase), c = cos(phase);
  return {size * (p * c - q * s), size * (p * s + q * c)};
}

Tensor near_part(const Tensor& x, double edge) { return where(x < edge, x, 0.5); }
Tensor far_part(const Tensor& x, double edge) {
  return where(x < edge, prim::full_like(x, edge), x);
}

Tensor oscillating_first(int order, const Tensor& x) {
  const Tensor size = abs(x);
  const Tensor half = near_part(size, kOscillatesFrom) * 0.5;
  Tensor near = composite::polynomial(square(half), bessel_series(order, -1).plain);
  if (order == 1) near = near * half;
  const Tensor far = hankel(order, far_part(size, kOscillatesFrom)).first;
  const Tensor value = where(size < kOscillatesFrom, near, where(isnan(x), x, far));
  return order == 1 ? where(x < 0.0, -value, value) : value;
}

// Of the second kind: the logarithm times the first kind, and its companion.
Tensor oscillating_second(int order, const Tensor& x) {
  const Tensor low = near_part(x, kOscillatesFrom);
  const Tensor half = low * 0.5, z = square(half);
  const BesselSeries series = bessel_series(order, -1);
  Tensor near = log(half) * composite::polynomial(z, series.plain) * 2.0 -
                composite::polynomial(z, series.companion) * (order == 0 ? 2.0 : 1.0);
  if (order == 1) near = near * half - prim::recip(half);
  near = near * std::numbers::inv_pi;
  const Tensor far = hankel(order, far_part(x, kOscillatesFrom)).second;
  const Tensor value = where(x < kOscillatesFrom, near, where(isnan(x), x, far));
  return where(x < 0.0, composite::kNotANumber, where(eq(x, 0.0), -composite::kInf, value));
}

Tensor decaying(int order, const Tensor& x, bool is_scaled) {
  const Tensor low = near_part(x, kDecaysFrom);
  const Tensor half = low * 0.5, z = square(half);
  const BesselSeries series = bessel_series(order, 1);
  Tensor near = log(half) * composite::polynomial(z, series.plain) -
                composite::polynomial(z, series.companion) * (order == 0 ? 1.0 : 0.5);
  near = order == 0 ? -near : near * half + prim::recip(half) * 0.5;
  const Tensor high = far_part(x, kDecaysFrom);
  // ∫ e^(-x(cosh t - 1))·cosh(order·t) dt, which is about e^(-x t²/2); cosh t - 1 = 2 sinh²(t/2).
  const Tensor width = sqrt(prim::recip(high) * 2.0) * kNodeStep;
  Tensor far = prim::full_like(x, 0.5);
  for (int i = 1; i < kNodes; ++i) {
    const Tensor e = exp(width * (i * 0.5));
    const Tensor rise = square(e - prim::recip(e)) * 0.5;
    const Tensor weight = exp(-high * rise);
    far = far + (order == 0 ? weight : weight * (rise + 1.0));
  }
  far = far * width;
  const Tensor value = is_scaled ? where(x < kDecaysFrom, near * exp(low), far)
                                 : where(x < kDecaysFrom, near, far * exp(-high));
  const Tensor found = where(isnan(x), x, value);
  return where(x < 0.0, composite::kNotANumber, where(eq(x, 0.0), composite::kInf, found));
}

}  // namespace

Tensor bessel_j(int order, const Tensor& x) {
  return in_f64(x, [&](const Tensor& v) { return oscillating_first(order, v); });
}
Tensor bessel_y(int order, const Tensor& x) {
  return in_f64(x, [&](const Tensor& v) { return oscillating_second(order, v); });
}
Tensor bessel_k(int order, const Tensor& x) {
  return in_f64(x, [&](const Tensor& v) { return decaying(order, v, false); });
}
Tensor scaled_bessel_k(int order, const Tensor& x) {
  return in_f64(x, [&](const Tensor& v) { return decaying(order, v, true); });
}

}  // namespace luminal
