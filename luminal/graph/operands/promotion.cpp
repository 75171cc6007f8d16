#include "luminal/graph/operands/promotion.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"

namespace luminal::composite {
namespace {

// PyTorch's rule for an operand that outranks another: it decides unless the other's kind is
// higher.
DType promote_into(DType higher, DType lower) {
  if (is_float(higher)) return higher;
  if (higher == DType::Bool || is_float(lower)) return promote(higher, lower);
  return higher;
}

}  // namespace

DType result_dtype(const Tensor& a, const Tensor& b) {
  const bool a_scalar = a.rank() == 0;
  const bool b_scalar = b.rank() == 0;
  if (a_scalar == b_scalar) return promote(a.dtype(), b.dtype());
  return a_scalar ? promote_into(b.dtype(), a.dtype()) : promote_into(a.dtype(), b.dtype());
}

DType float_dtype(DType dtype) { return is_float(dtype) ? dtype : DType::F32; }

DType compute_dtype(DType dtype) { return dtype == DType::F64 ? DType::F64 : DType::F32; }

void check_float(std::string_view op, const Tensor& x) {
  if (is_float(x.dtype())) return;
  throw UserError(fmt::format("{}: expects floats, but {} is {}{}; cast it to f32 first", op,
                              x.describe(), name(x.dtype()), text(x.dims())));
}

void check_index(std::string_view op, const Tensor& x) {
  if (x.dtype() == DType::I64 || x.dtype() == DType::I32) return;
  throw UserError(fmt::format("{}: expects an i64 or i32 index, but {} is {}{}; cast it to i64", op,
                              x.describe(), name(x.dtype()), text(x.dims())));
}

}  // namespace luminal::composite
