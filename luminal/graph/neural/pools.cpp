// Pools of windows.h: each window is a view of its axis, masked where it has fewer elements.
#include <fmt/format.h>

#include <limits>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/neural/windows.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/primitives.h"

namespace luminal {

using composite::at;

namespace {

// The windows of x: [… outputs…, kernel…], with where their elements are.
struct Windowed {
  Tensor elements;
  Tensor inside;  // bool
  Expr flat;      // the index of each element in its plane
};

Windowed windowed(const Tensor& x, const std::vector<PoolAxis>& axes) {
  const int spatial = static_cast<int>(axes.size()), first = x.rank() - spatial;
  Dims dims(x.dims().begin(), x.dims().begin() + first);
  for (const PoolAxis& axis : axes) dims.push_back(axis.outputs);
  for (const PoolAxis& axis : axes) dims.push_back(axis.kernel);
  std::vector<Expr> exprs;
  for (int i = 0; i < first; ++i) exprs.push_back(Expr::index(i, dims[at(i)]));
  Expr inside = 1, flat = 0;
  for (int i = 0; i < spatial; ++i) {
    const PoolAxis& axis = axes[at(i)];
    const Expr o = Expr::index(first + i, axis.outputs);
    const Expr k = Expr::index(first + spatial + i, axis.kernel);
    const Expr position = axis.position(o, k);
    exprs.push_back(max(min(position, axis.size - 1), 0));
    inside = inside && axis.valid(o, k);
    flat = flat * axis.size + position;
  }
  const Dims source = x.dims();
  return {prim::view(x, IndexMap(dims, source, std::move(exprs))),
          prim::iota(x.graph(), inside, dims, DType::Bool), flat};
}

void check_windows(std::string_view op, const Tensor& x, const std::vector<PoolAxis>& axes) {
  for (const PoolAxis& axis : axes) {
    if (axis.size.is(0) || axis.outputs.upper_bound() < 1) {
      throw UserError(fmt::format("{}: the windows of {} have no elements; use a smaller kernel",
                                  op, text(x.dims())));
    }
  }
}

// The lowest value of a dtype: the maximum of no elements.
Scalar lowest_of(DType dtype) {
  if (is_float(dtype)) return -std::numeric_limits<double>::infinity();
  if (is_unsigned(dtype)) return 0;
  return std::numeric_limits<int64_t>::min() >> (64 - bits(dtype));
}

// The kernel's axes as one, last.
Tensor merged_kernel(const Tensor& windows, size_t spatial) {
  const int count = static_cast<int>(spatial);
  return windows.merge_dims(windows.rank() - count, count);
}

Tensor window_divisors(const Tensor& like, const std::vector<PoolAxis>& axes) {
  const int first = like.rank() - static_cast<int>(axes.size());
  Expr count = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    count = count * axes[i].divisor(Expr::index(first + static_cast<int>(i), axes[i].outputs));
  }
  return prim::iota(like.graph(), count, Dims(like.dims()), like.dtype());
}

Tensor divided_by_windows(const Tensor& x, const std::vector<PoolAxis>& axes,
                          std::optional<Expr> divisor) {
  return divisor ? x / *divisor : x / window_divisors(x, axes);
}

}  // namespace

PoolAxis pool_axis(Expr size, Expr kernel, Expr stride, Expr padding, Expr dilation, bool ceil_mode,
                   bool count_include_pad) {
  const Expr room = size + 2 * padding - dilation * (kernel - 1) - 1;
  Expr outputs = (ceil_mode ? ceil_div(room, stride) : room / stride) + 1;
  // The last window must begin inside, or in the padding before.
  if (ceil_mode) outputs = min(outputs, ceil_div(size + padding, stride));
  if (known_less(room, 0) || kernel.upper_bound() < 1 || stride.upper_bound() < 1 ||
      known_less(kernel, 2 * padding) || padding.upper_bound() < 0 || dilation.upper_bound() < 1) {
    throw UserError(
        fmt::format("a kernel of {} (dilation {}, stride {}, padding {}) doesn't fit an axis of {}",
                    kernel.text(), dilation.text(), stride.text(), padding.text(), size.text()));
  }
  const auto position = [=](Expr o, Expr k) { return o * stride - padding + k * dilation; };
  return {.size = size,
          .outputs = outputs,
          .kernel = kernel,
          .position = position,
          .valid = [=](Expr o, Expr k) { return position(o, k) >= 0 && position(o, k) < size; },
          .divisor =
              [=](Expr o) {
                const Expr start = o * stride - padding;
                const Expr end = min(start + kernel, size + padding);
                if (count_include_pad) return end - start;
                return min(end, size) - max(start, 0);
              }};
}

PoolAxis adaptive_axis(Expr size, Expr outputs) {
  const auto start = [=](Expr o) { return o * size / outputs; };
  const auto end = [=](Expr o) { return ceil_div((o + 1) * size, outputs); };
  // ⌈size/outputs⌉ elements, and one more where both ends are inside of one.
  const bool even = (size % outputs).is(0);
  const Expr kernel = even ? size / outputs : min(ceil_div(size, outputs) + 1, size);
  return {.size = size,
          .outputs = outputs,
          .kernel = kernel,
          .position = [=](Expr o, Expr k) { return start(o) + k; },
          .valid = [=](Expr o, Expr k) { return start(o) + k < end(o); },
          .divisor = [=](Expr o) { return end(o) - start(o); }};
}

Pooled max_pool_nd(const Tensor& x, const std::vector<PoolAxis>& axes) {
  check_windows("max_pool", x, axes);
  const Windowed windows = windowed(x, axes);
  const Dims dims = windows.elements.dims();
  const Tensor masked = where(windows.inside, windows.elements,
                              prim::full(x.graph(), dims, lowest_of(x.dtype()), x.dtype()));
  const Tensor values = prim::reduce(merged_kernel(masked, axes.size()), Reducer::Max);
  // Of equal maxima the first: the greatest distance from the end. Of NaN the last.
  Expr plane = 1;
  for (const PoolAxis& axis : axes) plane = plane * axis.size;
  Dims spread = values.dims();
  spread.insert(spread.end(), axes.size(), Expr(1));
  const Tensor greatest = composite::expand_to(values.reshape(spread), dims);
  const Tensor place = prim::iota(x.graph(), windows.flat, dims, DType::I64);
  const Tensor from_end = Scalar(plane) - place;
  const Tensor is_greatest = logical_and(windows.inside, eq(masked, greatest));
  Tensor score = where(is_greatest, from_end, 0);
  if (is_float(x.dtype())) score = where(isnan(masked), place + Scalar(plane + 1), score);
  const Tensor best = prim::reduce(merged_kernel(score, axes.size()), Reducer::Max);
  const Tensor index = Scalar(plane) - best;
  return {values, where(best > Scalar(plane), best - Scalar(plane + 1), index)};
}

Tensor avg_pool_nd(const Tensor& x, const std::vector<PoolAxis>& axes,
                   std::optional<Expr> divisor) {
  composite::check_float("avg_pool", x);
  check_windows("avg_pool", x, axes);
  return composite::in_compute_dtype(x, [&](const Tensor& v) {
    const Windowed windows = windowed(v, axes);
    const Tensor masked = where(windows.inside, windows.elements, 0.0);
    return divided_by_windows(prim::reduce(merged_kernel(masked, axes.size()), Reducer::Sum), axes,
                              divisor);
  });
}

// One axis after the other: element h is the sum over the windows that contain it.
Tensor avg_pool_gradient(const Tensor& gradient, const Dims& x, const std::vector<PoolAxis>& axes,
                         std::optional<Expr> divisor) {
  return composite::in_compute_dtype(gradient, [&](const Tensor& v) {
    Tensor result = divided_by_windows(v, axes, divisor);
    const int first = result.rank() - static_cast<int>(axes.size());
    for (size_t i = 0; i < axes.size(); ++i) {
      const PoolAxis& axis = axes[i];
      const int which = first + static_cast<int>(i);
      // [… outputs …] → [… size, … outputs] with a mask of the windows that hold each element.
      Tensor spread = composite::axis_last(result, which).unsqueeze(-2);
      Dims dims = spread.dims();
      dims[dims.size() - 2] = x[at(which)];
      const int rank = static_cast<int>(dims.size());
      const Expr o = Expr::index(rank - 1, axis.outputs);
      const Expr h = Expr::index(rank - 2, x[at(which)]);
      const Expr from = axis.position(o, 0), to = axis.position(o, axis.kernel - 1);
      Expr inside = h >= from && to >= h && axis.valid(o, h - from);
      const Tensor held = prim::iota(result.graph(), inside, dims, DType::Bool);
      const Tensor masked = where(held, composite::expand_to(spread, dims), 0.0);
      result = composite::axis_back(prim::reduce(masked, Reducer::Sum), which);
    }
    return result;
  });
}

}  // namespace luminal
