// erf of math.h. The coefficients are our own fits (least squares weighted towards minimax, in 50
// digits); the numbers beside them are the errors of the fits.
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/polynomial.h"
#include "luminal/graph/composite/scaled_erfc.h"
#include "luminal/graph/operands/promotion.h"

namespace luminal {
namespace {

// erf(x) / x in t = 2·(x / 3.75)² - 1 for |x| ≤ 3.75, where 1 - erf(x) is 1.1e-7: fit error 5.0e-8;
// evaluated in f32: 2.4e-7, 5 ulp. Beyond that, x times the last value exceeds 1 at once, and the
// result is clamped to 1.
constexpr double kLimit32 = 3.75;
constexpr double kErf32[] = {0.3770569321,   -0.1880300984,   0.1392689899,   -0.1119382016,
                             0.09073633081,  -0.07162350047,  0.05364140401,  -0.03727589086,
                             0.02490240103,  -0.01680071324,  0.009168705018, -0.002948108432,
                             0.001864842624, -0.002239717765, 0.0008832748765};

// erf(x) / x in x² for |x| ≤ 1: fit error 6.6e-15.
constexpr double kTopSmall[] = {1.12837916709550518, 0.146774685768645873, 0.0413893020146901811,
                                0.00152427213431417776, 0.0000644673433409937673};
constexpr double kBottomSmall[] = {1.0, 0.463409011835242533, 0.0911499845150498816,
                                   0.00920280145131710453, 0.000413654962136164481};
// (1 - erf(x))·e^(x²) in x for 1 ≤ x ≤ 6, beyond which erf(x) rounds to 1: fit error 3.4e-16.
constexpr double kTopLarge[] = {1.00000014880849271,   1.68277319445392812,  1.38719663989976962,
                                0.691273861824393555,  0.218241707735415298, 0.0417256328955789766,
                                0.00391987366323731851};
constexpr double kBottomLarge[] = {1.0,
                                   2.81115382116857389,
                                   3.55923717288671101,
                                   2.648562694536767,
                                   1.26224011029460746,
                                   0.390296565918334384,
                                   0.0739567862514661925,
                                   0.00694779465050153796};

Tensor erf_f32(const Tensor& x) {
  const Tensor near = clamp(square(x), std::nullopt, kLimit32 * kLimit32);
  const Tensor t = near * (2 / (kLimit32 * kLimit32)) - 1.0;
  const Tensor result = x * composite::polynomial(t, kErf32);
  return clamp(result, -1.0, 1.0);
}

Tensor erf_f64(const Tensor& x) {
  const Tensor small = x * composite::rational(square(x), kTopSmall, kBottomSmall);
  const Tensor size = clamp(abs(x), 1.0, 6.0);
  const Tensor tail = exp(-square(size)) * composite::scaled_erfc(size);
  const Tensor large = where(x < 0, tail - 1.0, 1.0 - tail);
  return where(abs(x) > 1.0, large, small);  // NaN takes `small`
}

}  // namespace

Tensor composite::scaled_erfc(const Tensor& x) { return rational(x, kTopLarge, kBottomLarge); }

Tensor erf(const Tensor& x) {
  return composite::in_compute_dtype(
      x, [](const Tensor& v) { return v.dtype() == DType::F64 ? erf_f64(v) : erf_f32(v); });
}

}  // namespace luminal
