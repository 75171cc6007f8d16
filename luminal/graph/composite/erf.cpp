// erf of math.h. The coefficients are our own fits (weighted least squares towards minimax, in 50
// digits); the errors beside them are those of the fit.
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/polynomial.h"
#include "luminal/graph/composite/promotion.h"

namespace luminal {
namespace {

// erf(x) / x in x² for |x| ≤ 3.92, where 1 - erf(x) is below half an ulp of f32: 1.9e-8; evaluated
// in f32: 3.4e-7.
constexpr double kLimit32 = 3.92;
constexpr double kTop32[] = {1.128379146,    0.190398357,     0.05274764819,
                             0.003765272651, 0.0002848756671, 2.05015611e-6};
constexpr double kBottom32[] = {1.0,           0.5020688926,   0.1141057588,
                                0.01496852107, 0.001162453624, 3.809206422e-5};

// erf(x) / x in x² for |x| ≤ 1: 6.6e-15.
constexpr double kTopSmall[] = {1.12837916709550518, 0.146774685768645873, 0.0413893020146901811,
                                0.00152427213431417776, 0.0000644673433409937673};
constexpr double kBottomSmall[] = {1.0, 0.463409011835242533, 0.0911499845150498816,
                                   0.00920280145131710453, 0.000413654962136164481};
// (1 - erf(x))·e^(x²) in x for 1 ≤ x ≤ 6, beyond which erf(x) rounds to 1: 3.4e-16.
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
  const Tensor near = clamp(x, -kLimit32, kLimit32);
  const Tensor result = near * composite::rational(square(near), kTop32, kBottom32);
  return clamp(result, -1.0, 1.0);
}

Tensor erf_f64(const Tensor& x) {
  const Tensor small = x * composite::rational(square(x), kTopSmall, kBottomSmall);
  const Tensor size = clamp(abs(x), 1.0, 6.0);
  const Tensor tail = exp(-square(size)) * composite::rational(size, kTopLarge, kBottomLarge);
  const Tensor large = where(x < 0, tail - 1.0, 1.0 - tail);
  return where(abs(x) > 1.0, large, small);  // NaN goes through `small`
}

}  // namespace

Tensor erf(const Tensor& x) {
  return composite::in_compute_dtype(
      x, [](const Tensor& v) { return v.dtype() == DType::F64 ? erf_f64(v) : erf_f32(v); });
}

}  // namespace luminal
