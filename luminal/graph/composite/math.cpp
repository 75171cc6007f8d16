#include "luminal/graph/composite/math.h"

#include <fmt/format.h>

#include <limits>
#include <numbers>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/operands/elementwise.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/primitives.h"

namespace luminal {

using composite::constant_like;
using composite::in_compute_dtype;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check_not_bool(const char* op, const Tensor& x) {
  if (x.dtype() != DType::Bool) return;
  throw UserError(
      fmt::format("{}: {} is bool, which isn't supported; use logical_not, or cast it to i64", op,
                  x.describe()));
}

Tensor all_equal_to(const Tensor& like, bool value) {
  return prim::full(like.graph(), Dims(like.dims()), value, DType::Bool);
}

}  // namespace

Tensor exp(const Tensor& x) {
  return in_compute_dtype(x, [](const Tensor& v) { return prim::exp2(v * std::numbers::log2e); });
}

Tensor exp2(const Tensor& x) { return in_compute_dtype(x, prim::exp2); }

Tensor log(const Tensor& x) {
  return in_compute_dtype(x, [](const Tensor& v) { return prim::log2(v) * std::numbers::ln2; });
}

Tensor log2(const Tensor& x) { return in_compute_dtype(x, prim::log2); }
Tensor sin(const Tensor& x) { return in_compute_dtype(x, prim::sin); }

// By the half angle: v · 0.5 is exact for any x, while sin(π/2 - x) would lose large x to rounding.
Tensor cos(const Tensor& x) {
  return in_compute_dtype(x,
                          [](const Tensor& v) { return 1.0 - 2.0 * square(prim::sin(v * 0.5)); });
}

// In f64: near the poles the rounding error of an f32 cosine would be visible.
Tensor tan(const Tensor& x) {
  const DType dtype = composite::float_dtype(x.dtype());
  const Tensor wide = x.cast(dtype).cast(DType::F64);
  return (prim::sin(wide) / cos(wide)).cast(dtype);
}

Tensor sqrt(const Tensor& x) { return in_compute_dtype(x, prim::sqrt); }

Tensor rsqrt(const Tensor& x) {
  return in_compute_dtype(x, [](const Tensor& v) { return prim::recip(prim::sqrt(v)); });
}

Tensor reciprocal(const Tensor& x) { return in_compute_dtype(x, prim::recip); }

Tensor square(const Tensor& x) {
  const Tensor v = x.dtype() == DType::Bool ? x.cast(DType::I64) : x;  // like PyTorch's pow(x, 2)
  return prim::mul(v, v);
}

Tensor abs(const Tensor& x) {
  check_not_bool("abs", x);
  if (is_int(x.dtype()) && is_unsigned(x.dtype())) return x;
  const Tensor zero = constant_like(x, 0);
  // 0 - x instead of -x, because |0| must be 0, not -0.
  return prim::select(prim::less_than(zero, x), x, zero - x);
}

Tensor neg(const Tensor& x) {
  check_not_bool("neg", x);
  return prim::mul(x, constant_like(x, -1));
}

Tensor sign(const Tensor& x) {
  if (x.dtype() == DType::Bool) return x;
  return (x > 0).cast(x.dtype()) - (x < 0).cast(x.dtype());
}

Tensor trunc(const Tensor& x) {
  check_not_bool("trunc", x);
  if (!is_float(x.dtype())) return x;
  // Floats beyond `limit` are integers already, and those within it fit the integer type.
  const bool wide = x.dtype() == DType::F64;
  const double limit = x.dtype() == DType::F16 ? 2048.0 : wide ? 0x1p52 : 0x1p23;
  const Tensor whole = x.cast(wide ? DType::I64 : DType::I32).cast(x.dtype());
  return prim::select(prim::mul(x < limit, -limit < x), whole, x);
}

Tensor floor(const Tensor& x) {
  check_not_bool("floor", x);
  if (!is_float(x.dtype())) return x;
  const Tensor toward_zero = trunc(x);
  return prim::select(prim::less_than(x, toward_zero), toward_zero - 1, toward_zero);
}

Tensor ceil(const Tensor& x) {
  check_not_bool("ceil", x);
  if (!is_float(x.dtype())) return x;
  const Tensor toward_zero = trunc(x);
  return prim::select(prim::less_than(toward_zero, x), toward_zero + 1, toward_zero);
}

// Not by adding and subtracting 1.5·2^23, which a rewrite rule may cancel.
Tensor round(const Tensor& x) {
  check_not_bool("round", x);
  if (!is_float(x.dtype())) return x;
  const Tensor below = floor(x);
  const Tensor rest = x - below;  // exact
  const Tensor odd = ne(prim::mod(below, constant_like(below, 2)), 0);
  const Tensor up = logical_or(rest > 0.5, logical_and(eq(rest, 0.5), odd));
  return prim::select(up, below + 1, below);
}

Tensor isnan(const Tensor& x) { return is_float(x.dtype()) ? ne(x, x) : all_equal_to(x, false); }

Tensor isinf(const Tensor& x) {
  return is_float(x.dtype()) ? logical_or(eq(x, kInfinity), eq(x, -kInfinity))
                             : all_equal_to(x, false);
}

Tensor isfinite(const Tensor& x) {
  return is_float(x.dtype()) ? logical_and(x < kInfinity, -kInfinity < x) : all_equal_to(x, true);
}

}  // namespace luminal
