// The bitwise and logical ops of arithmetic.h.
#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/operands/elementwise.h"
#include "luminal/graph/primitives.h"

namespace luminal {

using composite::bool_dtype;
using composite::common_dtype;
using composite::constant_like;
using composite::negation;

namespace {

void check_ints(std::string_view op, const Tensor& x) {
  if (is_int(x.dtype())) return;
  throw UserError(fmt::format("{}: expects integers, but {} is {}; cast it first", op, x.describe(),
                              name(x.dtype())));
}

Tensor both(const Tensor& a, const Tensor& b) {
  if (a.dtype() == DType::Bool) return prim::mul(a, b);
  check_ints("bitwise_and", a);
  return prim::bit_and(a, b);
}

Tensor either(const Tensor& a, const Tensor& b) {
  if (a.dtype() == DType::Bool) return prim::add(a, b);
  check_ints("bitwise_or", a);
  return a + b - prim::bit_and(a, b);
}

Tensor one_of(const Tensor& a, const Tensor& b) {
  if (a.dtype() == DType::Bool) return negation(prim::equal(a, b));
  check_ints("bitwise_xor", a);
  return a + b - 2 * prim::bit_and(a, b);
}

// 2^n for 0 ≤ n < the dtype's width, as a product over the bits of n.
Tensor power_of_two(const Tensor& n) {
  Tensor result = constant_like(n, 1);
  for (int bit = 0; (1 << bit) < bits(n.dtype()); ++bit) {
    const Tensor is_set = ne(prim::bit_and(n, constant_like(n, 1 << bit)), 0);
    result = result * where(is_set, constant_like(n, int64_t{1} << (1 << bit)), 1);
  }
  return result;
}

// Whether 0 ≤ n < limit.
Tensor in_range(const Tensor& n, int limit) { return logical_and(n >= 0, n < limit); }

Tensor shifted_left(const Tensor& x, const Tensor& n) {
  check_ints("bitwise_left_shift", x);
  return where(in_range(n, bits(n.dtype())), x * power_of_two(n), 0);
}

// Floor division by 2^n; past the width only the sign remains. In a signed type 2^(width - 1)
// overflows to the minimum, so a shift by width - 1 also takes the sign.
Tensor shifted_right(const Tensor& x, const Tensor& n) {
  check_ints("bitwise_right_shift", x);
  const bool is_signed = !is_unsigned(x.dtype());
  const Tensor fits = in_range(n, bits(n.dtype()) - (is_signed ? 1 : 0));
  const Tensor sign_only = where(x < 0, constant_like(x, -1), 0);
  return where(fits, floor_divide(x, power_of_two(where(fits, n, 0))), sign_only);
}

}  // namespace

LUMINAL_DEFINE_BINARY(bitwise_and, "bitwise_and", both, common_dtype)
LUMINAL_DEFINE_BINARY(bitwise_or, "bitwise_or", either, common_dtype)
LUMINAL_DEFINE_BINARY(bitwise_xor, "bitwise_xor", one_of, common_dtype)
LUMINAL_DEFINE_BINARY(bitwise_left_shift, "bitwise_left_shift", shifted_left, common_dtype)
LUMINAL_DEFINE_BINARY(bitwise_right_shift, "bitwise_right_shift", shifted_right, common_dtype)

LUMINAL_DEFINE_BINARY(logical_and, "logical_and", both, bool_dtype)
LUMINAL_DEFINE_BINARY(logical_or, "logical_or", either, bool_dtype)
LUMINAL_DEFINE_BINARY(logical_xor, "logical_xor", one_of, bool_dtype)

Tensor bitwise_not(const Tensor& x) {
  if (x.dtype() == DType::Bool) return negation(x);
  check_ints("bitwise_not", x);
  return -1 - x;
}

Tensor logical_not(const Tensor& x) { return prim::equal(x, constant_like(x, 0)); }

}  // namespace luminal
