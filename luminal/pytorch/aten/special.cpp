// Special functions, and what is done to the parts of a float.
#include <cmath>
#include <limits>
#include <numbers>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/operands/limits.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/operands/signs.h"
#include "luminal/graph/primitives.h"
#include "luminal/graph/special/hyperbolic.h"
#include "luminal/graph/special/special_functions.h"
#include "luminal/graph/special/trigonometric.h"
#include "luminal/pytorch/aten/functions.h"

namespace luminal::pytorch {
namespace {

Tensor as_float(const Tensor& x) { return x.cast(composite::float_dtype(x.dtype())); }

// x·f(y), but 0 where x is and y isn't NaN.
template <OfOne* kFunction>
Tensor product_with(const Tensor& x, const Tensor& y) {
  const DType dtype = composite::float_dtype(composite::result_dtype(x, y));
  const DType compute = composite::compute_dtype(dtype);
  const Tensor a = x.cast(compute), b = y.cast(compute);
  const Tensor product = where(eq(a, 0.0), 0.0, a * kFunction(b));
  return where(isnan(b), b, product).cast(dtype);
}

Tensor entropy(const Tensor& x) {
  return composite::in_compute_dtype(x, [](const Tensor& v) {
    const Tensor inside = where(v > 0.0, -v * log(v), where(eq(v, 0.0), 0.0, -composite::kInf));
    return where(isnan(v), v, inside);
  });
}

Values logit_of(const Arguments& of) {
  const auto eps = of.maybe_real(1);
  return {composite::in_f64(of.tensor(0), [&](const Tensor& v) {
    const Tensor x = eps && *eps >= 0 ? clamp(v, *eps, 1 - *eps) : v;
    return log(x / (1.0 - x));
  })};
}

Tensor sinc(const Tensor& x) {
  return composite::in_f64(x, [](const Tensor& v) {
    const Tensor angle = v * std::numbers::pi;
    return where(eq(v, 0.0), 1.0, sin(angle) / angle);
  });
}

// As PyTorch: every step in x's dtype.
Values rounded(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const int decimals = of.integer(1);
  if (!is_float(x.dtype())) return {x};
  const Tensor power = prim::full_like(x, std::pow(10.0, static_cast<double>(std::abs(decimals))));
  if (decimals == 0) return {round(x)};
  if (decimals > 0) return {composite::exact_quotient(round(x * power), power)};
  return {round(composite::exact_quotient(x, power)) * power};
}

Tensor fraction(const Tensor& x) { return x - trunc(x); }

Tensor heaviside(const Tensor& x, const Tensor& at_zero) {
  const DType dtype = composite::result_dtype(x, at_zero);
  return where(eq(x, 0), at_zero.cast(dtype), (x > 0).cast(dtype));
}

Tensor fmax(const Tensor& a, const Tensor& b) {
  return where(isnan(a), b, where(isnan(b), a, maximum(a, b)));
}
Tensor fmin(const Tensor& a, const Tensor& b) {
  return where(isnan(a), b, where(isnan(b), a, minimum(a, b)));
}

Tensor is_positive_infinity(const Tensor& x) {
  return is_float(x.dtype()) ? eq(x, composite::kInf)
                             : prim::full(x.graph(), Dims(x.dims()), false, DType::Bool);
}
Tensor is_negative_infinity(const Tensor& x) {
  return is_float(x.dtype()) ? eq(x, -composite::kInf)
                             : prim::full(x.graph(), Dims(x.dims()), false, DType::Bool);
}

Tensor signbit(const Tensor& x) {
  if (is_unsigned(x.dtype())) return prim::full(x.graph(), Dims(x.dims()), false, DType::Bool);
  return composite::sign_bit(x);
}

// The largest finite value of a dtype.
double largest(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return std::numeric_limits<double>::max();
    case DType::F16:
      return 65504;
    case DType::BF16:
      return 0x1.fep127;
    default:
      return std::numeric_limits<float>::max();
  }
}

Values nan_to_num(const Arguments& of) {
  const Tensor x = of.tensor(0);
  if (!is_float(x.dtype())) return {x};
  const double high = of.maybe_real(2).value_or(largest(x.dtype()));
  const double low = of.maybe_real(3).value_or(-largest(x.dtype()));
  Tensor result = where(eq(x, composite::kInf), prim::full_like(x, high), x);
  result = where(eq(x, -composite::kInf), prim::full_like(x, low), result);
  return {where(isnan(x), prim::full_like(x, of.maybe_real(1).value_or(0)), result)};
}

Tensor to_radians(const Tensor& x) {
  return composite::in_compute_dtype(x,
                                     [](const Tensor& v) { return v * (std::numbers::pi / 180); });
}
Tensor to_degrees(const Tensor& x) {
  return composite::in_compute_dtype(x,
                                     [](const Tensor& v) { return v * (180 / std::numbers::pi); });
}

Tensor angle(const Tensor& x) {
  const Tensor v = as_float(x);
  return where(isnan(v), v, where(v < 0, prim::full_like(v, std::numbers::pi), 0.0));
}

Tensor times_power_of_two(const Tensor& x, const Tensor& exponent) {
  const DType dtype = composite::float_dtype(composite::result_dtype(x, exponent));
  return x.cast(dtype) * exp2(exponent.cast(dtype));
}

// From the nearer end, as PyTorch: at weight 1 the end itself.
Values interpolated(const Arguments& of) {
  const Tensor a = of.tensor(0), b = of.tensor(1);
  const Tensor w = operand(of, 2, 0);
  const DType dtype = a.dtype(), compute = composite::compute_dtype(dtype);
  const Tensor start = a.cast(compute), end = b.cast(compute), weight = w.cast(compute);
  const Tensor step = end - start;
  return {where(abs(weight) < 0.5, start + weight * step, end - step * (1.0 - weight)).cast(dtype)};
}

Values multivariate_lgamma(const Arguments& of) {
  const int p = of.integer(1);
  return {composite::in_f64(of.tensor(0), [&](const Tensor& v) {
    Tensor result = lgamma(v);
    for (int i = 1; i < p; ++i) result = result + lgamma(v - i * 0.5);
    return result + p * (p - 1) * std::log(std::numbers::pi) / 4;
  })};
}

// f32 as its mantissa in [½, 1) and its exponent, an i32.
Values mantissa_and_exponent(const Arguments& of) {
  const Tensor x = of.tensor(0);
  composite::check_float("frexp", x);
  if (x.dtype() == DType::F64) throw UserError("it is of f64, which isn't supported");
  const Tensor v = x.cast(DType::F32);
  // Subnormals become normal first.
  constexpr double kScale = 0x1p30;
  const Tensor small = abs(v) < 0x1p-126;
  const Tensor raw = prim::bitcast(where(small, v * kScale, v), DType::I32);
  const Tensor field = bitwise_right_shift(bitwise_and(raw, 0x7f800000), 23);
  const Tensor mantissa = bitwise_or(bitwise_and(raw, ~0x7f800000), 0x3f000000);
  const Tensor plain = logical_or(eq(v, 0.0), logical_not(isfinite(v)));
  const Tensor exponent = field - 126 - where(small, 30, prim::full_like(field, 0));
  return {where(plain, v, prim::bitcast(mantissa, DType::F32)).cast(x.dtype()),
          where(plain, 0, exponent)};
}

Tensor next_after(const Tensor& from, const Tensor& to) {
  if (from.dtype() != to.dtype()) throw UserError("its operands have different dtypes");
  composite::check_float("nextafter", from);
  const auto [a, b] = broadcast_together(from, to);
  const DType raw_type = a.dtype() == DType::F64 ? DType::I64
                         : is_half(a.dtype())    ? DType::I16
                                                 : DType::I32;
  const Tensor raw = prim::bitcast(a, raw_type);
  const Tensor grows = eq(a < b, a > 0);
  const Tensor stepped = prim::bitcast(raw + where(grows, 1, prim::full_like(raw, -1)), a.dtype());
  const Tensor least =
      composite::with_sign_of(prim::bitcast(prim::full_like(raw, 1), a.dtype()), b);
  const Tensor moved = where(eq(a, 0), least, stepped);
  const Tensor found = where(eq(a, b), b, moved);
  return where(isnan(a), a, where(isnan(b), b, found));
}

Values polygamma_of(const Arguments& of) {
  const int order = of.integer(0);
  return {order == 0 ? digamma(of.tensor(1)) : polygamma(order, of.tensor(1))};
}

using OfOrder = Tensor(int, const Tensor&);
template <OfOrder* kFunction, int kOrder>
Values of_order(const Arguments& of) {
  return {kFunction(kOrder, of.tensor(0))};
}

Tensor spherical_bessel(const Tensor& x) {
  return composite::in_f64(
      x, [](const Tensor& v) { return where(eq(v, 0.0), 1.0, where(isinf(v), 0.0, sin(v) / v)); });
}

constexpr OpEntry kSpecialOps[] = {
    {"aten.log1p.default", "self", of_one<log1p>},
    {"aten.expm1.default", "self", of_one<expm1>},
    {"aten.log10.default", "self", of_one<log10>},
    {"aten.sinh.default", "self", of_one<sinh>},
    {"aten.cosh.default", "self", of_one<cosh>},
    {"aten.asinh.default", "self", of_one<asinh>},
    {"aten.acosh.default", "self", of_one<acosh>},
    {"aten.atanh.default", "self", of_one<atanh>},
    {"aten.asin.default", "self", of_one<asin>},
    {"aten.acos.default", "self", of_one<acos>},
    {"aten.atan.default", "self", of_one<atan>},
    {"aten.atan2.default", "self, other", of_two<atan2>},
    {"aten.hypot.default", "self, other", of_two<hypot>},
    {"aten.copysign.Tensor", "self, other", of_two<copysign>},
    {"aten.copysign.Scalar", "self, other", of_two<copysign>},
    {"aten.logaddexp.default", "self, other", of_two<logaddexp>},
    {"aten.logaddexp2.default", "self, other", of_two<logaddexp2>},
    {"aten.erfc.default", "self", of_one<erfc>},
    {"aten.erfinv.default", "self", of_one<erfinv>},
    {"aten.special_erfcx.default", "self", of_one<erfcx>},
    {"aten.special_ndtri.default", "self", of_one<ndtri>},
    {"aten.special_log_ndtr.default", "self", of_one<log_ndtr>},
    {"aten.special_entr.default", "self", of_one<entropy>},
    {"aten.lgamma.default", "self", of_one<lgamma>},
    {"aten.digamma.default", "self", of_one<digamma>},
    {"aten.polygamma.default", "n, self", polygamma_of},
    {"aten.mvlgamma.default", "self, p", multivariate_lgamma},
    {"aten.i0.default", "self", of_one<i0>},
    {"aten.special_i0e.default", "self", of_one<i0e>},
    {"aten.special_i1.default", "self", of_one<i1>},
    {"aten.special_i1e.default", "self", of_one<i1e>},
    {"aten.special_modified_bessel_i0.default", "self", of_one<i0>},
    {"aten.special_modified_bessel_i1.default", "self", of_one<i1>},
    {"aten.special_bessel_j0.default", "self", of_order<bessel_j, 0>},
    {"aten.special_bessel_j1.default", "self", of_order<bessel_j, 1>},
    {"aten.special_bessel_y0.default", "self", of_order<bessel_y, 0>},
    {"aten.special_bessel_y1.default", "self", of_order<bessel_y, 1>},
    {"aten.special_modified_bessel_k0.default", "self", of_order<bessel_k, 0>},
    {"aten.special_modified_bessel_k1.default", "self", of_order<bessel_k, 1>},
    {"aten.special_scaled_modified_bessel_k0.default", "x", of_order<scaled_bessel_k, 0>},
    {"aten.special_scaled_modified_bessel_k1.default", "x", of_order<scaled_bessel_k, 1>},
    {"aten.special_spherical_bessel_j0.default", "x", of_one<spherical_bessel>},
    {"aten.xlogy.Tensor", "self, other", of_two<product_with<log>>},
    {"aten.xlogy.Scalar_Other", "self, other", of_two<product_with<log>>},
    {"aten.xlogy.Scalar_Self", "self, other", of_two<product_with<log>>},
    {"aten.special_xlog1py.default", "self, other", of_two<product_with<log1p>>},
    {"aten.special_xlog1py.other_scalar", "self, other", of_two<product_with<log1p>>},
    {"aten.special_xlog1py.self_scalar", "self, other", of_two<product_with<log1p>>},
    {"aten.logit.default", "self, eps=None", logit_of},
    {"aten.sinc.default", "self", of_one<sinc>},
    {"aten.round.decimals", "self, decimals", rounded},
    {"aten.frac.default", "self", of_one<fraction>},
    {"aten.heaviside.default", "self, values", of_two<heaviside>},
    {"aten.fmax.default", "self, other", of_two<fmax>},
    {"aten.fmin.default", "self, other", of_two<fmin>},
    {"aten.isposinf.default", "self", of_one<is_positive_infinity>},
    {"aten.isneginf.default", "self", of_one<is_negative_infinity>},
    {"aten.signbit.default", "self", of_one<signbit>},
    {"aten.nan_to_num.default", "self, nan=None, posinf=None, neginf=None", nan_to_num},
    {"aten.deg2rad.default", "self", of_one<to_radians>},
    {"aten.rad2deg.default", "self", of_one<to_degrees>},
    {"aten.angle.default", "self", of_one<angle>},
    {"aten.ldexp.Tensor", "self, other", of_two<times_power_of_two>},
    {"aten.lerp.Scalar", "self, end, weight", interpolated},
    {"aten.lerp.Tensor", "self, end, weight", interpolated},
    {"aten.frexp.Tensor", "self", mantissa_and_exponent},
    {"aten.nextafter.default", "self, other", of_two<next_after>},
};

}  // namespace

std::span<const OpEntry> special_ops() { return kSpecialOps; }

}  // namespace luminal::pytorch
