#include "luminal/graph/composite/arithmetic.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/elementwise.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/primitives.h"

namespace luminal {

using composite::common_dtype;
using composite::constant_like;
using composite::negation;

namespace composite {

Tensor apply(std::string_view op, StrictBinary function, const Tensor& a, const Tensor& b,
             OperandDType operand) {
  const DType dtype = operand(result_dtype(a, b));
  const Dims dims = broadcast(op, a.dims(), b.dims());
  return function(expand_to(a.cast(dtype), dims), expand_to(b.cast(dtype), dims));
}

Tensor apply(std::string_view, StrictBinary function, const Tensor& a, const Scalar& b,
             OperandDType operand) {
  const DType dtype = operand(promote(a.dtype(), b));
  return function(a.cast(dtype), prim::full(a.graph(), Dims(a.dims()), b, dtype));
}

Tensor apply(std::string_view, StrictBinary function, const Scalar& a, const Tensor& b,
             OperandDType operand) {
  const DType dtype = operand(promote(b.dtype(), a));
  return function(prim::full(b.graph(), Dims(b.dims()), a, dtype), b.cast(dtype));
}

Tensor constant_like(const Tensor& like, const Scalar& value) {
  return prim::full(like.graph(), Dims(like.dims()), value, like.dtype());
}

Tensor negation(const Tensor& x) { return prim::equal(x, constant_like(x, false)); }

}  // namespace composite

namespace {

Tensor negate(const Tensor& x) { return prim::mul(x, constant_like(x, -1)); }

Tensor subtract(const Tensor& a, const Tensor& b) {
  if (a.dtype() == DType::Bool) {
    throw UserError(
        "subtract: bool tensors can't be subtracted; use logical_xor, or cast them to i64");
  }
  return prim::add(a, negate(b));
}

// Whether the remainder `m` of division toward zero is non-zero and has another sign than `b`.
Tensor wrong_side(const Tensor& m, const Tensor& b) {
  const Tensor zero = constant_like(m, 0);
  const Tensor nonzero = negation(prim::equal(m, zero));
  const Tensor same = prim::equal(prim::less_than(b, zero), prim::less_than(m, zero));
  return prim::mul(nonzero, negation(same));
}

Tensor floor_mod(const Tensor& a, const Tensor& b) {
  const Tensor m = prim::mod(a, b);
  if (is_unsigned(a.dtype())) return m;
  return prim::select(wrong_side(m, b), prim::add(m, b), m);
}

Tensor floor_divide_ints(const Tensor& a, const Tensor& b) {
  const Tensor quotient = prim::int_div(a, b);
  if (is_unsigned(a.dtype())) return quotient;
  const Tensor less = prim::add(quotient, constant_like(quotient, -1));
  return prim::select(wrong_side(prim::mod(a, b), b), less, quotient);
}

// PyTorch's algorithm: a - mod is a multiple of b, so its quotient is within rounding of an
// integer.
Tensor floor_divide_floats(const Tensor& a, const Tensor& b) {
  const Tensor m = prim::mod(a, b);
  const Tensor inverse = prim::recip(b);
  Tensor quotient = prim::mul(subtract(a, m), inverse);
  quotient = where(wrong_side(m, b), quotient - 1, quotient);
  const Tensor below = floor(quotient);
  const Tensor nearest = where(quotient - below > 0.5, below + 1, below);
  return where(prim::equal(b, constant_like(b, 0)), prim::mul(a, inverse), nearest);
}

Tensor floor_divided(const Tensor& a, const Tensor& b) {
  if (!is_float(a.dtype())) return floor_divide_ints(a, b);
  const DType compute = composite::compute_dtype(a.dtype());
  return floor_divide_floats(a.cast(compute), b.cast(compute)).cast(a.dtype());
}

Tensor less_equal(const Tensor& a, const Tensor& b) {
  if (!is_float(a.dtype())) return negation(prim::less_than(b, a));
  return prim::add(prim::less_than(a, b), prim::equal(a, b));
}

Tensor greater(const Tensor& a, const Tensor& b) { return prim::less_than(b, a); }
Tensor greater_equal(const Tensor& a, const Tensor& b) { return less_equal(b, a); }
Tensor not_equal(const Tensor& a, const Tensor& b) { return negation(prim::equal(a, b)); }

// b where `take_b` or where b is NaN; a NaN in a is kept because comparisons with it are false.
Tensor choose(const Tensor& take_b, const Tensor& a, const Tensor& b) {
  if (!is_float(a.dtype())) return prim::select(take_b, b, a);
  return prim::select(prim::add(take_b, negation(prim::equal(b, b))), b, a);
}
Tensor lesser_of(const Tensor& a, const Tensor& b) { return choose(prim::less_than(b, a), a, b); }
Tensor greater_of(const Tensor& a, const Tensor& b) { return choose(prim::less_than(a, b), a, b); }

}  // namespace

LUMINAL_DEFINE_BINARY(operator+, "add", prim::add, common_dtype)
LUMINAL_DEFINE_BINARY(operator-, "subtract", subtract, common_dtype)
LUMINAL_DEFINE_BINARY(operator*, "multiply", prim::mul, common_dtype)
LUMINAL_DEFINE_BINARY(operator%, "remainder", floor_mod, common_dtype)
LUMINAL_DEFINE_BINARY(remainder, "remainder", floor_mod, common_dtype)
LUMINAL_DEFINE_BINARY(fmod, "fmod", prim::mod, common_dtype)
LUMINAL_DEFINE_BINARY(floor_divide, "floor_divide", floor_divided, common_dtype)

LUMINAL_DEFINE_BINARY(operator<, "lt", prim::less_than, common_dtype)
LUMINAL_DEFINE_BINARY(operator<=, "le", less_equal, common_dtype)
LUMINAL_DEFINE_BINARY(operator>, "gt", greater, common_dtype)
LUMINAL_DEFINE_BINARY(operator>=, "ge", greater_equal, common_dtype)
LUMINAL_DEFINE_BINARY(lt, "lt", prim::less_than, common_dtype)
LUMINAL_DEFINE_BINARY(le, "le", less_equal, common_dtype)
LUMINAL_DEFINE_BINARY(gt, "gt", greater, common_dtype)
LUMINAL_DEFINE_BINARY(ge, "ge", greater_equal, common_dtype)
LUMINAL_DEFINE_BINARY(eq, "eq", prim::equal, common_dtype)
LUMINAL_DEFINE_BINARY(ne, "ne", not_equal, common_dtype)

LUMINAL_DEFINE_BINARY(minimum, "minimum", lesser_of, common_dtype)
LUMINAL_DEFINE_BINARY(maximum, "maximum", greater_of, common_dtype)

// Division is separate: the reciprocal is taken before broadcasting, when it has fewer elements.
Tensor operator/(const Tensor& a, const Tensor& b) {
  const DType dtype = composite::float_dtype(composite::result_dtype(a, b));
  const DType compute = composite::compute_dtype(dtype);
  const Dims dims = composite::broadcast("divide", a.dims(), b.dims());
  const Tensor inverse = composite::expand_to(prim::recip(b.cast(compute)), dims);
  return prim::mul(composite::expand_to(a.cast(compute), dims), inverse).cast(dtype);
}

Tensor operator/(const Tensor& a, const Scalar& b) {
  const DType dtype = composite::float_dtype(promote(a.dtype(), b));
  const Tensor dividend = a.cast(composite::compute_dtype(dtype));
  if (b.kind != Scalar::Kind::Symbolic) {
    return prim::mul(dividend, constant_like(dividend, 1.0 / b.real)).cast(dtype);
  }
  if (const auto known = b.symbolic.to_int()) return a / Scalar(*known);
  const Tensor inverse = prim::recip(a.graph().constant(b, dividend.dtype()));
  return prim::mul(dividend, composite::expand_to(inverse, Dims(a.dims()))).cast(dtype);
}

Tensor operator/(const Scalar& a, const Tensor& b) {
  const DType dtype = composite::float_dtype(promote(b.dtype(), a));
  const Tensor inverse = prim::recip(b.cast(composite::compute_dtype(dtype)));
  return prim::mul(constant_like(inverse, a), inverse).cast(dtype);
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  if (condition.dtype() != DType::Bool) {
    throw UserError(fmt::format("where: the condition {} is {}; compare it, or cast it to bool",
                                condition.describe(), name(condition.dtype())));
  }
  const DType dtype = composite::result_dtype(a, b);
  Dims dims = composite::broadcast("where", a.dims(), b.dims());
  dims = composite::broadcast("where", condition.dims(), dims);
  return prim::select(composite::expand_to(condition, dims),
                      composite::expand_to(a.cast(dtype), dims),
                      composite::expand_to(b.cast(dtype), dims));
}

Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b) {
  const DType dtype = promote(a.dtype(), b);
  return where(condition, a.cast(dtype), a.graph().constant(b, dtype));
}

Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b) {
  const DType dtype = promote(b.dtype(), a);
  return where(condition, b.graph().constant(a, dtype), b.cast(dtype));
}

Tensor where(const Tensor& condition, const Scalar& a, const Scalar& b) {
  const DType dtype = promote(promote(DType::Bool, a), b);
  Graph& graph = condition.graph();
  return where(condition, graph.constant(a, dtype), graph.constant(b, dtype));
}

Tensor clamp(const Tensor& x, const std::optional<Scalar>& low, const std::optional<Scalar>& high) {
  if (!low && !high) throw UserError("clamp: give it a low limit, a high one, or both");
  DType dtype = x.dtype();
  if (low) dtype = promote(dtype, *low);
  if (high) dtype = promote(dtype, *high);
  Tensor result = x.cast(dtype);
  // As in PyTorch, a NaN limit makes everything NaN.
  auto limit = [&](const Scalar& at, bool from_below) {
    const Tensor bound = constant_like(result, at);
    if (at.real != at.real) return bound;
    const Tensor outside =
        from_below ? prim::less_than(result, bound) : prim::less_than(bound, result);
    return prim::select(outside, bound, result);
  };
  if (low) result = limit(*low, true);
  if (high) result = limit(*high, false);
  return result;
}

Tensor clamp(const Tensor& x, const Tensor& low, const Tensor& high) {
  return minimum(maximum(x, low), high);
}

Dims broadcast_dims(const Dims& a, const Dims& b) {
  return composite::broadcast("broadcast", a, b);
}

std::pair<Tensor, Tensor> broadcast_together(const Tensor& a, const Tensor& b) {
  const Dims dims = composite::broadcast("broadcast", a.dims(), b.dims());
  return {composite::expand_to(a, dims), composite::expand_to(b, dims)};
}

}  // namespace luminal
