// The LU factorisation of linear_algebra.h.
#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/errors.h"
#include "luminal/graph/algorithms/linear_algebra.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/primitives.h"

namespace luminal {
namespace {

// Steps are written out one by one, several kernels each.
constexpr int64_t kMostFactored = 32;

int64_t factored_steps(const Tensor& a) {
  composite::check_float("lu", a);
  const auto rows = a.rank() < 2 ? std::nullopt : a.dim(-2).to_int();
  const auto columns = a.rank() < 2 ? std::nullopt : a.dim(-1).to_int();
  if (!rows || !columns || std::max(*rows, *columns) > kMostFactored) {
    throw UserError(fmt::format("lu: {} isn't supported; matrices of up to {} known rows are",
                                text(a.dims()), kMostFactored));
  }
  return std::min(*rows, *columns);
}

// Whether an index along one of the last two axes is greater than k.
Tensor beyond(const Tensor& like, int axis, int64_t k) {
  const Dims dims = like.dims();
  const int which = axis + like.rank();
  const Expr place = Expr::index(which, dims[composite::at(which)]);
  return prim::iota(like.graph(), place >= k + 1, dims, DType::Bool);
}

// Rows k and `chosen` [… 1] of m exchanged.
Tensor rows_exchanged(const Tensor& m, int64_t k, const Tensor& chosen) {
  const Tensor rows = arange(m.graph(), m.dim(-2));
  const Tensor order = where(eq(rows, k), chosen, where(eq(rows, chosen), k, rows));
  return gather(m, -2, order.unsqueeze(-1).expand(Dims(m.dims())));
}

}  // namespace

Factored lu_factored(const Tensor& a, bool pivots) {
  const int64_t steps = factored_steps(a);
  Tensor m = a.cast(DType::F64);
  const Dims batch(m.dims().begin(), m.dims().end() - 2);
  Tensor info = full(a.graph(), batch, 0, DType::I32);
  std::vector<Tensor> chosen_rows;
  for (int64_t k = 0; k < steps; ++k) {
    Tensor chosen = full(a.graph(), batch, k, DType::I64).unsqueeze(-1);
    if (pivots) {
      const Expr rest = m.dim(-2) - k;
      chosen = (argmax(abs(m.select(-1, k).narrow(-1, k, rest)), -1) + k).unsqueeze(-1);
      m = rows_exchanged(m, k, chosen);
    }
    chosen_rows.push_back((chosen + 1).cast(DType::I32));
    const Tensor pivot = m.narrow(-2, k, 1).narrow(-1, k, 1);
    const Tensor is_zero = eq(pivot, 0.0);
    info = where(logical_and(eq(info, 0), is_zero.squeeze(-1).squeeze(-1)), k + 1, info);
    const Tensor column = m.narrow(-1, k, 1);
    const Tensor factors = where(is_zero, column, column / pivot);
    const Tensor updated = m - factors * m.narrow(-2, k, 1);
    const Tensor is_column = logical_and(logical_not(beyond(m, -1, k)), beyond(m, -1, k - 1));
    const Tensor below = where(beyond(m, -1, k), updated, where(is_column, factors, m));
    m = where(beyond(m, -2, k), below, m).materialize();
  }
  const Tensor all =
      chosen_rows.empty() ? full(a.graph(), {0}, 0, DType::I32) : concat(chosen_rows, a.rank() - 2);
  return {m.cast(a.dtype()), all, info};
}

Tensor permutation_of(const Tensor& pivots, Expr rows) {
  const auto steps = pivots.dim(-1).to_int();
  if (!steps || *steps > kMostFactored) {
    throw UserError(fmt::format("lu: pivots {} aren't supported; up to {} known ones are",
                                text(pivots.dims()), kMostFactored));
  }
  Dims dims = pivots.dims();
  dims.back() = rows;
  Tensor order = arange(pivots.graph(), rows).expand(dims).unsqueeze(-1);
  for (int64_t k = 0; k < *steps; ++k) {
    order = rows_exchanged(order, k, pivots.narrow(-1, k, 1).cast(DType::I64) - 1).materialize();
  }
  return order.squeeze(-1);
}

}  // namespace luminal
