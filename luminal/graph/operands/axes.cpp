#include "luminal/graph/operands/axes.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/errors.h"
#include "luminal/graph/primitives.h"

namespace luminal::composite {

int normalize_axis(std::string_view op, int axis, const Dims& dims, bool scalar_ok) {
  const int rank = static_cast<int>(dims.size());
  const int axes = rank == 0 && scalar_ok ? 1 : rank;
  if (axis >= -axes && axis < axes) return axis < 0 ? axis + axes : axis;
  if (axes == 0) {
    throw UserError(
        fmt::format("{}: axis {} asked of a scalar, which has none; unsqueeze it first", op, axis));
  }
  throw UserError(fmt::format("{}: axis {} is out of range for {}; use {} … {}", op, axis,
                              text(dims), -axes, axes - 1));
}

std::vector<int> normalize_axes(std::string_view op, const Axes& axes, const Dims& dims) {
  std::vector<int> result;
  if (axes.list.empty()) {
    for (size_t i = 0; i < dims.size(); ++i) result.push_back(static_cast<int>(i));
    return result;
  }
  for (int axis : axes.list) result.push_back(normalize_axis(op, axis, dims, true));
  std::sort(result.begin(), result.end());
  auto twice = std::adjacent_find(result.begin(), result.end());
  if (twice != result.end()) {
    throw UserError(fmt::format("{}: axis {} of {} is named twice; name each axis once", op, *twice,
                                text(dims)));
  }
  if (dims.empty()) result.clear();  // axis 0 of a scalar: nothing to go over
  return result;
}

Dims broadcast(std::string_view op, const Dims& a, const Dims& b) {
  const size_t rank = std::max(a.size(), b.size());
  Dims dims(rank);
  for (size_t i = rank; i-- > 0;) {
    const Expr left = i + a.size() >= rank ? a[i + a.size() - rank] : Expr(1);
    const Expr right = i + b.size() >= rank ? b[i + b.size() - rank] : Expr(1);
    if (left != right && !left.is(1) && !right.is(1)) {
      throw UserError(
          fmt::format("{}: dims {} and {} don't broadcast: axis {} is {} and {}; reshape or "
                      "expand one of them",
                      op, text(a), text(b), i, left.text(), right.text()));
    }
    dims[i] = left.is(1) ? right : left;
  }
  return dims;
}

Tensor expand_to(const Tensor& x, const Dims& dims) {
  const Dims source = x.dims();
  const size_t added = dims.size() - source.size();
  std::vector<Expr> exprs;
  exprs.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    const Expr extent = dims[added + i];
    exprs.push_back(source[i] == extent ? Expr::index(static_cast<int>(added + i), extent)
                                        : Expr(0));
  }
  return prim::view(x, IndexMap(dims, source, std::move(exprs)));
}

Tensor axis_last(const Tensor& x, int axis) {
  std::vector<int> order;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) order.push_back(i);
  }
  if (x.rank() > 0) order.push_back(axis);
  return x.permute(order);
}

Tensor axis_back(const Tensor& x, int axis) {
  std::vector<int> order;
  for (int i = 0; i + 1 < x.rank(); ++i) order.push_back(i);
  if (x.rank() > 0) order.insert(order.begin() + axis, x.rank() - 1);
  return x.permute(order);
}

}  // namespace luminal::composite
