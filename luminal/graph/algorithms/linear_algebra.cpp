#include "luminal/graph/algorithms/linear_algebra.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/limits.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/primitives.h"

namespace luminal {
namespace {

// Steps are written out one by one, several kernels each.
constexpr int64_t kMostEliminated = 32;
constexpr int64_t kMostTriangular = 1024;

int64_t known_order(std::string_view op, const Tensor& a, int64_t most) {
  composite::check_float(op, a);
  if (a.rank() < 2 || a.dim(-1) != a.dim(-2)) {
    throw UserError(fmt::format("{}: expects square matrices, not {}", op, text(a.dims())));
  }
  const auto order = a.dim(-1).to_int();
  if (!order || *order > most) {
    throw UserError(fmt::format("{}: matrices of {} rows aren't supported; up to {} known ones are",
                                op, a.dim(-1).text(), most));
  }
  return *order;
}

// Whether row + shift equals the column, over the last two of some dims.
Tensor on_diagonal(Graph& graph, const Dims& dims) {
  const int rank = static_cast<int>(dims.size());
  const Expr row = Expr::index(rank - 2, dims[dims.size() - 2]);
  const Expr column = Expr::index(rank - 1, dims.back());
  return prim::iota(graph, row >= column && column >= row, dims, DType::Bool);
}

// Along one of the last two axes: whether an element is in this row, or column.
Tensor at_index(const Tensor& like, int axis, int64_t index) {
  const Dims dims = like.dims();
  const int which = axis + like.rank();
  const Expr place = Expr::index(which, dims[composite::at(which)]);
  return prim::iota(like.graph(), place >= index && Expr(index) >= place, dims, DType::Bool);
}

// [… blocks, size, size]: the blocks below the diagonal of each pair of diagonal blocks.
Tensor blocks_below(const Tensor& a, int64_t size) {
  const Dims source = a.dims();
  Dims dims(source.begin(), source.end() - 2);
  const Expr pairs = source.back() / (2 * size);
  dims.insert(dims.end(), {pairs, Expr(size), Expr(size)});
  const int rank = static_cast<int>(dims.size());
  std::vector<Expr> exprs;
  for (int i = 0; i + 3 < rank; ++i) exprs.push_back(Expr::index(i, dims[composite::at(i)]));
  const Expr first = Expr::index(rank - 3, pairs) * (2 * size);
  exprs.push_back(first + size + Expr::index(rank - 2, Expr(size)));
  exprs.push_back(first + Expr::index(rank - 1, Expr(size)));
  return prim::view(a, IndexMap(dims, source, std::move(exprs)));
}

// By halves: the inverse of [[a, 0], [c, b]] is [[a⁻¹, 0], [-b⁻¹ c a⁻¹, b⁻¹]], of all diagonal
// blocks of a size at once. log₂ n steps, and as stable as substitution for what is well scaled.
Tensor lower_inverse(const Tensor& a, bool unit) {
  const int64_t n = known_order("triangular_inverse", a, kMostTriangular);
  int64_t padded = 1;
  while (padded < n) padded *= 2;
  std::vector<Padding> paddings(a.dims().size());
  paddings.end()[-1] = paddings.end()[-2] = {.before = 0, .after = padded - n};
  Tensor whole = pad(a, paddings);
  const Dims dims = whole.dims();
  const Expr row = Expr::index(whole.rank() - 2, dims.back());
  const Expr column = Expr::index(whole.rank() - 1, dims.back());
  Expr ones = row >= column && column >= row;
  if (!unit) ones = ones && row >= n;
  whole = where(prim::iota(a.graph(), ones, dims, DType::Bool), 1.0, whole);
  // The diagonal as blocks of one: [… n, 1, 1].
  Tensor diagonal = sum(where(on_diagonal(a.graph(), dims), whole, 0.0), -1);
  Tensor blocks = prim::recip(diagonal).unsqueeze(-1).unsqueeze(-1);
  for (int64_t size = 1; size < padded; size *= 2) {
    const Tensor pairs = blocks.split_dims(-3, {Expr(padded / size / 2), Expr(2)});
    const Tensor first = pairs.select(-3, 0), second = pairs.select(-3, 1);
    const Tensor below = -matmul(matmul(second, blocks_below(whole, size)), first);
    const int last = below.rank() - 1;
    const Tensor top = pad_axis(first, last, {.before = 0, .after = size});
    blocks = concat({top, concat({below, second}, last)}, last - 1);
  }
  return blocks.squeeze(-3).narrow(-1, 0, n).narrow(-2, 0, n);
}

Tensor flipped_both(const Tensor& x) { return x.flip({-1}).flip({-2}); }

}  // namespace

Tensor triangular_inverse(const Tensor& a, bool upper, bool unit) {
  const Tensor wide = a.cast(DType::F64);
  const Tensor result =
      upper ? flipped_both(lower_inverse(flipped_both(wide), unit)) : lower_inverse(wide, unit);
  return result.cast(a.dtype());
}

Eliminated eliminated(const Tensor& a, const Tensor& b) {
  const int64_t n = known_order("solve", a, kMostEliminated);
  const int columns = a.rank() - 1;
  const DType dtype = a.dtype();
  Tensor m = concat({a.cast(DType::F64), b.cast(DType::F64)}, columns);
  Dims batch(m.dims().begin(), m.dims().end() - 2);
  Tensor sign = full(a.graph(), batch, 1.0, DType::F64), log_size = sign * 0.0;
  Tensor determinant = sign;
  Tensor info = full(a.graph(), batch, 0, DType::I32);
  const Tensor rows = arange(a.graph(), n);
  for (int64_t k = 0; k < n; ++k) {
    // The row of the largest element of what is left of the column.
    const Tensor sizes = abs(m.select(-1, k).narrow(-1, k, n - k));
    const Tensor chosen = (argmax(sizes, -1) + k).unsqueeze(-1);
    const Tensor order = where(eq(rows, k), chosen, where(eq(rows, chosen), k, rows));
    const Tensor index = order.unsqueeze(-1).expand(Dims(m.dims()));
    m = gather(m, -2, index);
    const Tensor pivot = m.select(-2, k).select(-1, k);
    sign =
        sign * where(eq(chosen.squeeze(-1), k), 1.0, -1.0).cast(DType::F64) * luminal::sign(pivot);
    determinant = determinant * where(eq(chosen.squeeze(-1), k), pivot, -pivot);
    log_size = log_size + log(abs(pivot));
    info = where(logical_and(eq(info, 0), eq(pivot, 0.0)), k + 1, info);
    const Tensor row = m.narrow(-2, k, 1) / pivot.unsqueeze(-1).unsqueeze(-1);
    const Tensor others = m - m.narrow(-1, k, 1) * row;
    m = where(at_index(m, -2, k), row.expand(Dims(m.dims())), others).materialize();
  }
  return {.solution = m.narrow(-1, n, b.dim(-1)).cast(dtype),
          .determinant = determinant.cast(dtype),
          .log_size = log_size.cast(dtype),
          .sign = sign.cast(dtype),
          .info = info};
}

Cholesky cholesky(const Tensor& a) {
  const int64_t n = known_order("cholesky", a, kMostEliminated);
  Tensor m = a.cast(DType::F64);
  std::vector<Tensor> columns;
  Dims batch(m.dims().begin(), m.dims().end() - 2);
  Tensor info = full(a.graph(), batch, 0, DType::I32);
  for (int64_t k = 0; k < n; ++k) {
    const Tensor pivot = m.select(-2, k).select(-1, k);
    info = where(logical_and(eq(info, 0), logical_not(pivot > 0.0)), k + 1, info);
    const Tensor whole = m.narrow(-1, k, 1) / sqrt(pivot).unsqueeze(-1).unsqueeze(-1);
    const Dims dims = whole.dims();
    const Tensor below = prim::iota(
        a.graph(), Expr::index(whole.rank() - 2, dims[dims.size() - 2]) >= k, dims, DType::Bool);
    columns.push_back(where(below, whole, 0.0));
    m = (m - columns.back() * columns.back().t()).materialize();
  }
  if (columns.empty()) return {a, info};
  return {concat(columns, a.rank() - 1).cast(a.dtype()), info};
}

}  // namespace luminal
