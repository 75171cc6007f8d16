#include "luminal/graph/composite/matmul.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/primitives.h"

namespace luminal {
namespace {

void check_operands(std::string_view op, const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype()) {
    throw UserError(fmt::format("{}: {} is {}, {} is {}; cast one of them", op, a.describe(),
                                name(a.dtype()), b.describe(), name(b.dtype())));
  }
  if (a.dtype() == DType::Bool) {
    throw UserError(fmt::format("{}: bool isn't supported; cast both sides to i64 or f32", op));
  }
}

// Views a matrix (with batch dims) in the iteration space [batch…, m, n, k]: its last two axes are
// the axes `first` and `second` of that space.
Tensor in_product(const Tensor& x, const Dims& product, int first, int second) {
  const Dims source = x.dims();
  const int batch = static_cast<int>(product.size()) - 3;
  const int own_batch = x.rank() - 2;
  std::vector<Expr> exprs;
  for (int i = 0; i < x.rank(); ++i) {
    const int axis = i < own_batch ? i + batch - own_batch : i == own_batch ? first : second;
    const Expr extent = product[static_cast<size_t>(axis)];
    const bool repeats = source[static_cast<size_t>(i)] != extent;
    exprs.push_back(repeats ? Expr(0) : Expr::index(axis, extent));
  }
  return prim::view(x, IndexMap(product, source, std::move(exprs)));
}

DType accumulator(DType dtype) { return is_half(dtype) ? DType::F32 : dtype; }

// a [batch…, m, k] times b [batch…, k, n].
Tensor matrix_product(const Tensor& a, const Tensor& b) {
  const Dims a_batch(a.dims().begin(), a.dims().end() - 2);
  const Dims b_batch(b.dims().begin(), b.dims().end() - 2);
  Dims product = composite::broadcast("matmul", a_batch, b_batch);
  const int batch = static_cast<int>(product.size());
  product.insert(product.end(), {a.dim(-2), b.dim(-1), a.dim(-1)});
  const DType dtype = a.dtype();
  const Tensor left = in_product(a.cast(accumulator(dtype)), product, batch, batch + 2);
  const Tensor right = in_product(b.cast(accumulator(dtype)), product, batch + 2, batch + 1);
  return prim::reduce(prim::mul(left, right), Reducer::Sum).cast(dtype);
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  check_operands("matmul", a, b);
  if (a.rank() == 0 || b.rank() == 0) {
    throw UserError(fmt::format("matmul: {} and {}: a scalar has no axis to sum over; use *",
                                text(a.dims()), text(b.dims())));
  }
  if (a.dim(-1) != b.dim(b.rank() == 1 ? 0 : -2)) {
    throw UserError(
        fmt::format("matmul: inner sizes differ: a is {}, b is {}; transpose b or check its layout",
                    text(a.dims()), text(b.dims())));
  }
  const bool row = a.rank() == 1;
  const bool column = b.rank() == 1;
  Tensor result = matrix_product(row ? a.unsqueeze(0) : a, column ? b.unsqueeze(1) : b);
  if (column) result = result.squeeze(-1);
  if (row) result = result.squeeze(column ? -1 : -2);
  return result;
}

Tensor dot(const Tensor& a, const Tensor& b) {
  check_operands("dot", a, b);
  if (a.rank() != 1 || b.rank() != 1) {
    throw UserError(fmt::format("dot: expects two 1-D tensors, not {} and {}; use matmul",
                                text(a.dims()), text(b.dims())));
  }
  return matmul(a, b);
}

}  // namespace luminal
