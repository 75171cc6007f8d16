// The modified Bessel functions of special_functions.h, in f64: their power series near 0, and the
// asymptotic series far from it.
#include <cmath>
#include <numbers>
#include <vector>

#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/polynomial.h"
#include "luminal/graph/operands/signs.h"
#include "luminal/graph/primitives.h"
#include "luminal/graph/special/special_functions.h"

namespace luminal {

using composite::in_f64;

namespace {

// Both series are exact to 2^-50 there.
constexpr double kBesselFar = 20.0;
constexpr int kNearTerms = 48, kFarTerms = 24;

// (x/2)^-order · I(x) in (x/2)²: 1 / (k!·(k + order)!).
std::vector<double> near_series(int order) {
  std::vector<double> terms = {1 / std::tgamma(order + 1.0)};
  for (int k = 1; k < kNearTerms; ++k) {
    terms.push_back(terms.back() / (static_cast<double>(k) * (k + order)));
  }
  return terms;
}

// √(2πx)·e^-x·I(x) in 1/x: Π ((2j - 1)² - 4·order²) / (k!·8^k).
std::vector<double> far_series(int order) {
  std::vector<double> terms = {1.0};
  for (int k = 1; k < kFarTerms; ++k) {
    const double odd = 2 * k - 1;
    terms.push_back(terms.back() * (odd * odd - 4.0 * order * order) / (8.0 * k));
  }
  return terms;
}

// e^-x·I(x) of x ≥ 0 near 0, and far from it.
struct BesselParts {
  Tensor near_unscaled, far;
};

BesselParts bessel_parts(int order, const Tensor& size) {
  const Tensor half = where(size < kBesselFar, size, 0.0) * 0.5;
  Tensor near = composite::polynomial(square(half), near_series(order));
  if (order == 1) near = near * half;
  const Tensor at = where(size < kBesselFar, kBesselFar, size);
  const Tensor inverse = prim::recip(at);
  const Tensor far = composite::polynomial(inverse, far_series(order)) *
                     sqrt(inverse * (0.5 * std::numbers::inv_pi));
  return {near, far};
}

Tensor bessel(int order, const Tensor& x) {
  const Tensor size = abs(x);
  const BesselParts of = bessel_parts(order, size);
  // By halves: e^x alone may overflow where the product doesn't.
  const Tensor root = exp(size * 0.5);
  const Tensor grown = of.far * root * root;  // inf · 0 at ±inf: NaN, as in PyTorch
  const Tensor value = where(size < kBesselFar, of.near_unscaled, grown);
  const Tensor found = order == 1 ? composite::with_sign_of(value, x) : value;
  return where(isnan(x), x, found);
}

Tensor scaled_bessel(int order, const Tensor& x) {
  const Tensor size = abs(x);
  const BesselParts of = bessel_parts(order, size);
  const Tensor value = where(size < kBesselFar, of.near_unscaled * exp(-size), of.far);
  const Tensor found = order == 1 ? composite::with_sign_of(value, x) : value;
  return where(isnan(x), x, found);
}

}  // namespace

Tensor i0(const Tensor& x) {
  return in_f64(x, [](const Tensor& v) { return bessel(0, v); });
}
Tensor i0e(const Tensor& x) {
  return in_f64(x, [](const Tensor& v) { return scaled_bessel(0, v); });
}
Tensor i1(const Tensor& x) {
  return in_f64(x, [](const Tensor& v) { return bessel(1, v); });
}
Tensor i1e(const Tensor& x) {
  return in_f64(x, [](const Tensor& v) { return scaled_bessel(1, v); });
}

}  // namespace luminal
