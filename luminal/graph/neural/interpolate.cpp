#include "luminal/graph/neural/interpolate.h"

#include <fmt/format.h>

#include <functional>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/operands/signs.h"
#include "luminal/graph/primitives.h"

namespace luminal {

using composite::at;

namespace {

// in / out as PyTorch has it: a number of the dtype that places are computed in.
Tensor size_ratio(const Tensor& x, int axis, Expr outputs, const ResampleOptions& options,
                  DType dtype) {
  Graph& graph = x.graph();
  if (options.align_corners) {
    if (outputs.is(1)) return full(graph, {}, 0.0, dtype);
    return composite::exact_quotient(full(graph, {}, Scalar(x.dim(axis) - 1), dtype),
                                     full(graph, {}, Scalar(outputs - 1), dtype));
  }
  if (options.scale) return full(graph, {}, *options.scale, dtype);
  return composite::exact_quotient(full(graph, {}, Scalar(x.dim(axis)), dtype),
                                   full(graph, {}, Scalar(outputs), dtype));
}

// The place in x of each output: [outputs].
Tensor sample_places(const Tensor& x, int axis, Expr outputs, const ResampleOptions& options) {
  const DType dtype = composite::compute_dtype(x.dtype());
  const Tensor step = size_ratio(x, axis, outputs, options, dtype);
  const Tensor index = arange(x.graph(), outputs, dtype);
  if (options.align_corners) return step * index;
  return step * (index + 0.5) - 0.5;
}

// `weight` [outputs] along an axis of `like`.
Tensor weight_along(const Tensor& weight, const Tensor& like, int axis) {
  Tensor result = weight;
  for (int i = axis + 1; i < like.rank(); ++i) result = result.unsqueeze(-1);
  return result;
}

Tensor samples_at(const Tensor& x, int axis, const Tensor& index) {
  const Expr last = x.dim(axis) - 1;
  const Tensor low = where(index < 0, 0, index);
  return index_select(x, axis, where(low > Scalar(last), Scalar(last), low));
}

Tensor padded_by_map(std::string_view op, const Tensor& x, int axis, Expr before, Expr after,
                     const std::function<Expr(Expr place, Expr last)>& map) {
  const int which = composite::normalize_axis(op, axis, x.dims());
  Dims dims = x.dims();
  const Expr size = dims[at(which)], outputs = size + before + after;
  if (size.is(0) || outputs.upper_bound() < 0) {
    throw UserError(fmt::format("{}: ({}, {}) doesn't fit axis {} of {}", op, before.text(),
                                after.text(), axis, text(dims)));
  }
  std::vector<Expr> exprs = IndexMap::identity(dims).exprs();
  dims[at(which)] = outputs;
  const Expr place = Expr::index(which, outputs) - before;
  for (size_t i = 0; i < exprs.size(); ++i) exprs[i] = Expr::index(static_cast<int>(i), dims[i]);
  exprs[at(which)] = max(min(map(place, size - 1), size - 1), 0);
  const Dims source = x.dims();
  return prim::view(x, IndexMap(dims, source, std::move(exprs)));
}

}  // namespace

Tensor resample_nearest(const Tensor& x, int axis, Expr outputs, const ResampleOptions& options,
                        bool exact) {
  const int which = composite::normalize_axis("resample", axis, x.dims());
  const Tensor index = arange(x.graph(), outputs, DType::F32);
  const Tensor step = size_ratio(x, which, outputs, options, DType::F32);
  const Tensor place = step * (exact ? index + 0.5 : index);
  return samples_at(x, which, place.cast(DType::I64));
}

Tensor resample_linear(const Tensor& x, int axis, Expr outputs, const ResampleOptions& options) {
  const int which = composite::normalize_axis("resample", axis, x.dims());
  return composite::in_compute_dtype(x, [&](const Tensor& v) {
    const Tensor real = clamp(sample_places(v, which, outputs, options), 0.0);
    const Tensor left = real.cast(DType::I64);
    const Tensor share = weight_along(real - left.cast(real.dtype()), v, which);
    return samples_at(v, which, left) * (1.0 - share) + samples_at(v, which, left + 1) * share;
  });
}

Tensor resample_cubic(const Tensor& x, int axis, Expr outputs, const ResampleOptions& options) {
  const int which = composite::normalize_axis("resample", axis, x.dims());
  constexpr double kA = -0.75;
  const auto near = [](const Tensor& t) { return ((kA + 2) * t - (kA + 3)) * t * t + 1.0; };
  const auto far = [](const Tensor& t) { return ((kA * t - 5 * kA) * t + 8 * kA) * t - 4 * kA; };
  return composite::in_compute_dtype(x, [&](const Tensor& v) {
    const Tensor real = sample_places(v, which, outputs, options);
    const Tensor below = floor(real);
    const Tensor left = below.cast(DType::I64);
    const Tensor t = weight_along(real - below, v, which), u = 1.0 - t;
    return samples_at(v, which, left - 1) * far(t + 1.0) + samples_at(v, which, left) * near(t) +
           samples_at(v, which, left + 1) * near(u) + samples_at(v, which, left + 2) * far(u + 1.0);
  });
}

Tensor pad_reflected(const Tensor& x, int axis, Expr before, Expr after) {
  return padded_by_map("pad", x, axis, before, after, [](Expr place, Expr last) {
    const Expr from_start = max(place, -place);
    const Expr from_end = max(last - from_start, from_start - last);
    return last - from_end;
  });
}

Tensor pad_circular(const Tensor& x, int axis, Expr before, Expr after) {
  return padded_by_map("pad", x, axis, before, after,
                       [](Expr place, Expr last) { return place % (last + 1); });
}

Tensor pad_replicated(const Tensor& x, int axis, Expr before, Expr after) {
  return padded_by_map("pad", x, axis, before, after,
                       [](Expr place, Expr last) { return max(min(place, last), 0); });
}

}  // namespace luminal
