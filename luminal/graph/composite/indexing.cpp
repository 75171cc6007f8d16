#include "luminal/graph/composite/indexing.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/elementwise.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/primitives.h"

namespace luminal {

using composite::at;
using composite::check_index;
using composite::normalize_axis;

namespace {

void check_picks(std::string_view op, const Tensor& x, int axis, const Tensor& index) {
  check_index(op, index);
  bool fits = x.rank() == index.rank();
  for (int i = 0; fits && i < x.rank(); ++i) {
    fits = i == axis || !known_less(x.dim(i), index.dim(i));
  }
  if (!fits) {
    throw UserError(
        fmt::format("{}: index {} must have as many axes as x {} and be no larger except along "
                    "axis {}; expand or slice it",
                    op, text(index.dims()), text(x.dims()), axis));
  }
}

// The row-major position in x of x[…, index[i…], …] for each element of index. An index outside its
// axis gives -1, which is no position: otherwise it could hit another element of x by accident.
Tensor flat_positions(const Tensor& x, int axis, const Tensor& index) {
  const Dims dims = index.dims();
  if (dims.empty()) return index;
  const std::vector<Expr> strides = contiguous_strides(x.dims());
  Expr others = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != at(axis)) others = others + Expr::index(static_cast<int>(i), dims[i]) * strides[i];
  }
  const Tensor along = index.cast(DType::I64);
  const Tensor position =
      along * strides[at(axis)] + prim::iota(x.graph(), others, dims, DType::I64);
  const Tensor inside = logical_and(along >= 0, along < x.dim(axis));
  return where(inside, position, -1);
}

Tensor scatter_flat(std::string_view op, const Tensor& x, int axis, const Tensor& index,
                    const Tensor& src, std::optional<Reducer> combine) {
  const int which = normalize_axis(op, axis, x.dims(), true);
  check_picks(op, x, which, index);
  if (src.dtype() != x.dtype() || src.rank() != index.rank()) {
    throw UserError(fmt::format("{}: src is {}{}, but x is {} and index {}; cast or reshape src",
                                op, name(src.dtype()), text(src.dims()), name(x.dtype()),
                                text(index.dims())));
  }
  Tensor values = src;
  for (int i = 0; i < index.rank(); ++i) {
    if (values.dim(i) != index.dim(i)) values = values.narrow(i, 0, index.dim(i));
  }
  const Dims dims = x.dims();
  return prim::scatter(x.flatten(), flat_positions(x, which, index), values, combine).reshape(dims);
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& index) {
  check_index("embedding", index);
  if (weight.rank() != 2) {
    throw UserError(fmt::format("embedding: weight must be [n, d], but is {}; reshape it",
                                text(weight.dims())));
  }
  return prim::gather(weight, index);
}

Tensor gather(const Tensor& x, int axis, const Tensor& index) {
  const int which = normalize_axis("gather", axis, x.dims(), true);
  check_picks("gather", x, which, index);
  return prim::gather(x.flatten(), flat_positions(x, which, index));
}

Tensor index_select(const Tensor& x, int axis, const Tensor& index) {
  const int which = normalize_axis("index_select", axis, x.dims());
  check_index("index_select", index);
  if (index.rank() != 1) {
    throw UserError(
        fmt::format("index_select: index must be 1-D, but is {}; flatten it, or use gather",
                    text(index.dims())));
  }
  std::vector<int> to_front = {which};
  std::vector<int> back;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != which) to_front.push_back(i);
    back.push_back(i < which ? i + 1 : i == which ? 0 : i);
  }
  return prim::gather(x.permute(to_front), index).permute(back);
}

Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
  return scatter_flat("scatter", x, axis, index, src, std::nullopt);
}

Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Scalar& src) {
  const Tensor values = prim::full(x.graph(), Dims(index.dims()), src, x.dtype());
  return scatter_flat("scatter", x, axis, index, values, std::nullopt);
}

Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& src) {
  return scatter_flat("scatter_add", x, axis, index, src, Reducer::Sum);
}

Tensor index_put(const Tensor& x, const Tensor& index, const Tensor& values,
                 const IndexPutOptions& options) {
  check_index("index_put", index);
  if (x.rank() == 0) throw UserError("index_put: a scalar has no rows; unsqueeze it first");
  Dims wanted = index.dims();
  wanted.insert(wanted.end(), x.dims().begin() + 1, x.dims().end());
  if (values.dtype() != x.dtype() ||
      !same_dims(composite::broadcast("index_put", values.dims(), wanted), wanted)) {
    throw UserError(fmt::format("index_put: values must be {}{}, but are {}{}; cast or expand them",
                                name(x.dtype()), text(wanted), name(values.dtype()),
                                text(values.dims())));
  }
  const auto combine = options.accumulate ? std::optional(Reducer::Sum) : std::nullopt;
  return prim::scatter(x, index, composite::expand_to(values, wanted), combine);
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, const Scalar& value) {
  if (mask.dtype() != DType::Bool) {
    throw UserError(fmt::format("masked_fill: the mask {} is {}; compare it, or cast it to bool",
                                mask.describe(), name(mask.dtype())));
  }
  const Dims dims = composite::broadcast("masked_fill", x.dims(), mask.dims());
  const Tensor shown = composite::expand_to(x, dims);
  return prim::select(composite::expand_to(mask, dims), composite::constant_like(shown, value),
                      shown);
}

Tensor arange(Graph& graph, Expr end, DType dtype) { return arange(graph, 0, end, 1, dtype); }

Tensor arange(Graph& graph, Expr start, Expr end, Expr step, DType dtype) {
  if (step.is(0)) throw UserError("arange: the step is 0; use another");
  const Expr size = max(ceil_div(end - start, step), 0);
  return prim::iota(graph, start + Expr::index(0, size) * step, {size}, dtype);
}

Tensor eye(Graph& graph, Expr n, DType dtype) { return eye(graph, n, n, dtype); }

Tensor eye(Graph& graph, Expr rows, Expr columns, DType dtype) {
  const Expr row = Expr::index(0, rows);
  const Expr column = Expr::index(1, columns);
  return prim::iota(graph, row >= column && column >= row, {rows, columns}, dtype);
}

Tensor one_hot(const Tensor& index, Expr classes) {
  check_index("one_hot", index);
  const Tensor all = arange(index.graph(), classes, index.dtype());
  return eq(index.unsqueeze(-1), all).cast(DType::I64);
}

Tensor full(Graph& graph, const Dims& dims, const Scalar& value, DType dtype) {
  return prim::full(graph, Dims(dims), value, dtype);
}

Tensor zeros(Graph& graph, const Dims& dims, DType dtype) { return full(graph, dims, 0, dtype); }
Tensor ones(Graph& graph, const Dims& dims, DType dtype) { return full(graph, dims, 1, dtype); }

}  // namespace luminal
