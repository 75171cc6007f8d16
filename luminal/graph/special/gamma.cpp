// The gamma functions of special_functions.h, in f64: a recurrence up to where an asymptotic series
// is exact.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "luminal/base/errors.h"
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

constexpr double kGammaPi = std::numbers::pi;
constexpr double kGammaInfinity = composite::kInf;
constexpr double kGammaNaN = composite::kNotANumber;
// The series are used from here on, after so many steps of the recurrence from 0 on.
constexpr int kSteps = 9;
constexpr double kSeriesFrom = kSteps;

// The coefficients of 1/x, 1/x³ … in Stirling's series: Bernoulli numbers over 2k(2k - 1).
constexpr std::array kStirling = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                                  1.0 / 1188, -691.0 / 360360, 1.0 / 156};
// Of 1/x², 1/x⁴ … in digamma's: Bernoulli numbers over 2k, negated.
constexpr std::array kDigamma = {-1.0 / 12,  1.0 / 120,     -1.0 / 252, 1.0 / 240,
                                 -1.0 / 132, 691.0 / 32760, -1.0 / 12};
constexpr std::array kBernoulli = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                   5.0 / 66, -691.0 / 2730, 7.0 / 6};

// log Γ of x > 0.
Tensor lgamma_of_positive(const Tensor& x) {
  const Tensor low = x < kSeriesFrom;
  const Tensor start = where(low, x, 1.0);
  Tensor product = start;
  for (int i = 1; i < kSteps; ++i) product = product * (start + i);
  const Tensor at = where(low, x + kSteps, x);
  const Tensor inverse = prim::recip(at);
  const Tensor series = inverse * composite::polynomial(square(inverse), kStirling);
  const Tensor log_root = log(at);
  const Tensor stirling = (at - 0.5) * log_root - at + (0.5 * std::log(2 * kGammaPi)) + series;
  return stirling - where(low, log(product), 0.0);
}

// sin(πx) / π's sign and zeros are exact: x minus its nearest integer is.
Tensor sin_of_pi_times(const Tensor& x) { return sin((x - round(x)) * kGammaPi); }

Tensor lgamma_of(const Tensor& x) {
  const Tensor negative = x < 0.5;
  const Tensor positive = lgamma_of_positive(where(negative, 1.0 - x, x));
  const Tensor reflected = std::log(kGammaPi) - log(abs(sin_of_pi_times(x))) - positive;
  Tensor result = where(negative, reflected, positive);
  // Γ has poles at 0, -1, -2 …; of inf the series is inf - inf.
  const Tensor pole = logical_and(x <= 0.0, eq(x, floor(x)));
  result = where(logical_or(pole, isinf(x)), kGammaInfinity, result);
  return where(isnan(x), x, result);
}

Tensor digamma_of_positive(const Tensor& x) {
  const Tensor low = x < kSeriesFrom;
  Tensor sum = prim::full_like(x, 0.0);
  const Tensor start = where(low, x, 1.0);
  for (int i = 0; i < kSteps; ++i) sum = sum + prim::recip(start + i);
  const Tensor at = where(low, x + kSteps, x);
  const Tensor inverse = prim::recip(at), z = square(inverse);
  const Tensor series = z * composite::polynomial(z, kDigamma) - inverse * 0.5 + log(at);
  return where(isinf(x), x, series - where(low, sum, 0.0));
}

Tensor digamma_of(const Tensor& x) {
  const Tensor negative = x < 0.0;
  const Tensor positive = digamma_of_positive(where(negative, 1.0 - x, x));
  const Tensor rest = (x - round(x)) * kGammaPi;
  const Tensor reflected = positive - kGammaPi * (cos(rest) / sin(rest));
  Tensor result = where(negative, reflected, positive);
  result = where(logical_and(negative, eq(x, floor(x))), kGammaNaN, result);
  const Tensor at_zero =
      where(composite::sign_bit(x), prim::full_like(x, kGammaInfinity), -kGammaInfinity);
  result = where(eq(x, 0.0), at_zero, result);
  return where(isnan(x), x, result);
}

// Hurwitz' zeta Σ (x + k)^-s of s ≥ 2 by Euler and Maclaurin, for x > 0.
Tensor zeta_of(int s, const Tensor& x) {
  Tensor sum = prim::full_like(x, 0.0);
  for (int i = 0; i < kSteps; ++i) sum = sum + pow(prim::recip(x + i), s);
  const Tensor at = x + kSteps;
  const Tensor inverse = prim::recip(at);
  const Tensor power = pow(inverse, s);
  sum = sum + power * at * (1.0 / (s - 1)) + power * 0.5;
  // Each term: B₂ₖ/(2k)! · s(s + 1)…(s + 2k - 2) / at^(s + 2k - 1).
  Tensor term = power * inverse;
  double factor = s;
  double factorial = 2;
  for (size_t k = 0; k < kBernoulli.size(); ++k) {
    sum = sum + term * (kBernoulli[k] * factor / factorial);
    const double n = 2 * static_cast<double>(k) + 2;
    factor *= (s + n - 1) * (s + n);
    factorial *= (n + 1) * (n + 2);
    term = term * square(inverse);
  }
  return sum;
}

// The order-th derivative of π·cot(πx), as a polynomial of c = cot(πx): c' = -π(1 + c²).
std::vector<double> cotangent_derivative(int order) {
  std::vector<double> p = {0, kGammaPi};
  for (int i = 0; i < order; ++i) {
    std::vector<double> next(p.size() + 1, 0.0);
    for (size_t k = 1; k < p.size(); ++k) {
      const double slope = -kGammaPi * static_cast<double>(k) * p[k];
      next[k - 1] += slope;
      next[k + 1] += slope;
    }
    p = std::move(next);
  }
  return p;
}

Tensor polygamma_of(int order, const Tensor& x) {
  const double sign = order % 2 == 0 ? -1 : 1;
  const double factor = std::tgamma(order + 1.0) * sign;
  const Tensor negative = x <= 0.0;
  const Tensor positive = zeta_of(order + 1, where(negative, 1.0 - x, x)) * factor;
  const Tensor rest = (x - round(x)) * kGammaPi;
  const Tensor cotangent = cos(rest) / sin(rest);
  const Tensor reflected =
      positive * -sign - composite::polynomial(cotangent, cotangent_derivative(order));
  const Tensor result = where(negative, reflected, positive);
  const Tensor pole = logical_and(negative, eq(x, floor(x)));
  return where(isnan(x), x, where(pole, sign * kGammaInfinity, result));
}

}  // namespace

Tensor lgamma(const Tensor& x) { return in_f64(x, lgamma_of); }
Tensor digamma(const Tensor& x) { return in_f64(x, digamma_of); }

Tensor polygamma(int order, const Tensor& x) {
  if (order < 1) throw UserError("polygamma: the order must be 1 or more; use digamma for 0");
  return in_f64(x, [&](const Tensor& v) { return polygamma_of(order, v); });
}

}  // namespace luminal
