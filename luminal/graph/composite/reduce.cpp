#include "luminal/graph/composite/reduce.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/elementwise.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/primitives.h"

namespace luminal {

using composite::check_float;
using composite::in_compute_dtype;
using composite::normalize_axis;

namespace {

// One Reduce over several axes, which are moved to the end and merged.
Tensor reduce_over(std::string_view op, const Tensor& x, const Axes& axes, bool keepdim,
                   Reducer reducer) {
  const std::vector<int> reduced = composite::normalize_axes(op, axes, x.dims());
  if (reduced.empty()) return x;
  std::vector<int> order;
  for (int i = 0; i < x.rank(); ++i) {
    if (!std::binary_search(reduced.begin(), reduced.end(), i)) order.push_back(i);
  }
  const int kept = static_cast<int>(order.size());
  order.insert(order.end(), reduced.begin(), reduced.end());
  Tensor result = x.permute(order).merge_dims(kept, static_cast<int>(reduced.size()));
  result = prim::reduce(result, reducer);
  if (!keepdim) return result;
  for (int axis : reduced) result = result.unsqueeze(axis);
  return result;
}

// Squeezes the size-1 axes that a reduction kept.
Tensor without_axes(std::string_view op, const Tensor& x, const Axes& axes) {
  const std::vector<int> kept = composite::normalize_axes(op, axes, x.dims());
  Tensor result = x;
  for (size_t i = kept.size(); i-- > 0;) result = result.squeeze(kept[i]);
  return result;
}

// Elements of x per element of the result.
Expr count_over(std::string_view op, const Tensor& x, const Axes& axes) {
  Expr count = 1;
  for (int axis : composite::normalize_axes(op, axes, x.dims())) count = count * x.dim(axis);
  return count;
}

// The accumulation dtype: floats unchanged, others as i64.
Tensor as_summand(const Tensor& x) { return is_float(x.dtype()) ? x : x.cast(DType::I64); }

// An order-reversing bijection, its own inverse. -x isn't one for integers: -minimum overflows.
Tensor reversed(const Tensor& x) { return is_float(x.dtype()) ? -x : bitwise_not(x); }

Tensor truth_over(std::string_view op, const Tensor& x, const Axes& axes, bool keepdim,
                  Reducer reducer) {
  const Tensor truth = reduce_over(op, x.cast(DType::Bool), axes, keepdim, reducer);
  return x.dtype() == DType::U8 ? truth.cast(DType::U8) : truth;
}

Tensor scan_along(std::string_view op, const Tensor& x, int axis, Reducer reducer) {
  const int which = normalize_axis(op, axis, x.dims(), true);
  if (x.rank() == 0) return x;
  return composite::axis_back(prim::scan(composite::axis_last(x, which), reducer), which);
}

// Along the last axis: the maximum of n - 1 - i over all maxima i belongs to the first one.
Tensor first_maximum(std::string_view op, const Tensor& x) {
  const Dims dims = x.dims();
  const Expr size = dims.back();
  if (size.is(0)) {
    throw UserError(
        fmt::format("{}: {} has no elements along the axis; use another axis", op, text(dims)));
  }
  const Tensor greatest = composite::expand_to(prim::reduce(x, Reducer::Max).unsqueeze(-1), dims);
  Tensor is_greatest = prim::equal(x, greatest);
  if (is_float(x.dtype())) is_greatest = logical_or(is_greatest, isnan(x));
  const Expr from_end = size - 1 - Expr::index(x.rank() - 1, size);
  const Tensor place = prim::iota(x.graph(), from_end, dims, DType::I64);
  return Scalar(size - 1) - prim::reduce(where(is_greatest, place, -1), Reducer::Max);
}

Tensor place_of_maximum(std::string_view op, const Tensor& x, std::optional<int> axis,
                        bool keepdim) {
  const int which = axis ? normalize_axis(op, *axis, x.dims(), true) : 0;
  const int rank = x.rank();
  Tensor result = axis && rank > 0 ? composite::axis_last(x, which) : x.flatten();
  result = first_maximum(op, result);
  if (!keepdim || rank == 0) return result;
  return axis ? result.unsqueeze(which) : result.reshape(Dims(static_cast<size_t>(rank), 1));
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, const ReduceOptions& options) {
  return reduce_over("sum", as_summand(x), axes, options.keepdim, Reducer::Sum);
}

Tensor prod(const Tensor& x, const Axes& axes, const ReduceOptions& options) {
  return reduce_over("prod", as_summand(x), axes, options.keepdim, Reducer::Prod);
}

Tensor max(const Tensor& x, const Axes& axes, const ReduceOptions& options) {
  return reduce_over("max", x, axes, options.keepdim, Reducer::Max);
}

Tensor min(const Tensor& x, const Axes& axes, const ReduceOptions& options) {
  return reversed(reduce_over("min", reversed(x), axes, options.keepdim, Reducer::Max));
}

Tensor any(const Tensor& x, const Axes& axes, const ReduceOptions& options) {
  return truth_over("any", x, axes, options.keepdim, Reducer::Max);
}

Tensor all(const Tensor& x, const Axes& axes, const ReduceOptions& options) {
  return truth_over("all", x, axes, options.keepdim, Reducer::Prod);
}

Tensor mean(const Tensor& x, const Axes& axes, const ReduceOptions& options) {
  check_float("mean", x);
  const Expr count = count_over("mean", x, axes);
  return in_compute_dtype(x, [&](const Tensor& v) {
    return reduce_over("mean", v, axes, options.keepdim, Reducer::Sum) / count;
  });
}

Tensor var(const Tensor& x, const Axes& axes, const VarOptions& options) {
  check_float("var", x);
  const Expr divisor = max(count_over("var", x, axes) - options.correction, 0);
  return in_compute_dtype(x, [&](const Tensor& v) {
    const Tensor deviation = v - mean(v, axes, {.keepdim = true});
    return sum(square(deviation), axes, {.keepdim = options.keepdim}) / divisor;
  });
}

Tensor stddev(const Tensor& x, const Axes& axes, const VarOptions& options) {
  check_float("std", x);
  return in_compute_dtype(x, [&](const Tensor& v) { return prim::sqrt(var(v, axes, options)); });
}

Tensor logsumexp(const Tensor& x, const Axes& axes, const ReduceOptions& options) {
  return in_compute_dtype(x, [&](const Tensor& v) {
    // With an infinite maximum, v - max would be NaN; unshifted exponentials give inf or 0.
    const Tensor greatest = max(v, axes, {.keepdim = true});
    const Tensor shift = where(isinf(greatest), 0.0, greatest);
    const Tensor result = log(sum(exp(v - shift), axes, {.keepdim = true})) + shift;
    return options.keepdim ? result : without_axes("logsumexp", result, axes);
  });
}

Tensor argmax(const Tensor& x, std::optional<int> axis, const ReduceOptions& options) {
  return place_of_maximum("argmax", x, axis, options.keepdim);
}

Tensor argmin(const Tensor& x, std::optional<int> axis, const ReduceOptions& options) {
  return place_of_maximum("argmin", reversed(x), axis, options.keepdim);
}

Tensor cumsum(const Tensor& x, int axis) {
  return scan_along("cumsum", as_summand(x), axis, Reducer::Sum);
}

Tensor cumprod(const Tensor& x, int axis) {
  return scan_along("cumprod", as_summand(x), axis, Reducer::Prod);
}

Tensor cummax(const Tensor& x, int axis) { return scan_along("cummax", x, axis, Reducer::Max); }

}  // namespace luminal
