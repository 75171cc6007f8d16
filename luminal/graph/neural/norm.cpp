#include "luminal/graph/composite/norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/promotion.h"

namespace luminal {

using composite::check_float;
using composite::in_compute_dtype;

namespace {

// The trailing axes of x; checks that their dims are `normalized`.
Axes check_normalized(std::string_view op, const Tensor& x, const Dims& normalized) {
  check_float(op, x);
  const Dims& dims = x.dims();
  if (normalized.empty() || normalized.size() > dims.size() ||
      !std::equal(normalized.rbegin(), normalized.rend(), dims.rbegin())) {
    throw UserError(
        fmt::format("{}: x is {}, which doesn't end in {}; give the dims of its last "
                    "axes",
                    op, text(dims), text(normalized)));
  }
  std::vector<int> axes;
  for (size_t i = normalized.size(); i > 0; --i) axes.push_back(-static_cast<int>(i));
  return Axes(axes);
}

void check_dims(std::string_view op, std::string_view what, const std::optional<Tensor>& parameter,
                const Dims& wanted) {
  if (!parameter || same_dims(parameter->dims(), wanted)) return;
  throw UserError(fmt::format("{}: {} must be {}, but is {}; reshape it", op, what, text(wanted),
                              text(parameter->dims())));
}

// y·weight + bias, aligned with the trailing dims of y.
Tensor scale_and_shift(const Tensor& y, const std::optional<Tensor>& weight,
                       const std::optional<Tensor>& bias) {
  Tensor result = y;
  if (weight) result = result * weight->cast(y.dtype());
  if (bias) result = result + bias->cast(y.dtype());
  return result;
}

Tensor standardize(const Tensor& v, const Axes& axes, double eps) {
  const Tensor deviation = v - mean(v, axes, {.keepdim = true});
  return deviation * rsqrt(mean(square(deviation), axes, {.keepdim = true}) + eps);
}

// The epsilon of the compute dtype, as in PyTorch: f16 and bf16 use f32's.
double epsilon(DType dtype) {
  return dtype == DType::F64 ? std::numeric_limits<double>::epsilon()
                             : static_cast<double>(std::numeric_limits<float>::epsilon());
}

// The size of axis 1; and a parameter per channel, reshaped to broadcast along it.
Expr channels(std::string_view op, const Tensor& x) {
  check_float(op, x);
  if (x.rank() < 2) {
    throw UserError(fmt::format("{}: expects [n, channels, …], but {} is {}; unsqueeze it first",
                                op, x.describe(), text(x.dims())));
  }
  return x.dim(1);
}

std::optional<Tensor> per_channel(std::string_view op, std::string_view what,
                                  const std::optional<Tensor>& parameter, const Tensor& x) {
  check_dims(op, what, parameter, {x.dim(1)});
  if (!parameter) return std::nullopt;
  Tensor result = *parameter;
  for (int i = 2; i < x.rank(); ++i) result = result.unsqueeze(-1);
  return result;
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Dims& normalized, const std::optional<Tensor>& weight,
                  const std::optional<Tensor>& bias, double eps) {
  const Axes axes = check_normalized("layer_norm", x, normalized);
  check_dims("layer_norm", "weight", weight, normalized);
  check_dims("layer_norm", "bias", bias, normalized);
  return in_compute_dtype(
      x, [&](const Tensor& v) { return scale_and_shift(standardize(v, axes, eps), weight, bias); });
}

Tensor rms_norm(const Tensor& x, const Dims& normalized, const std::optional<Tensor>& weight,
                std::optional<double> eps) {
  const Axes axes = check_normalized("rms_norm", x, normalized);
  check_dims("rms_norm", "weight", weight, normalized);
  const double floor = eps.value_or(epsilon(x.dtype()));
  return in_compute_dtype(x, [&](const Tensor& v) {
    const Tensor scale = rsqrt(mean(square(v), axes, {.keepdim = true}) + floor);
    return scale_and_shift(v * scale, weight, std::nullopt);
  });
}

Tensor group_norm(const Tensor& x, int groups, const std::optional<Tensor>& weight,
                  const std::optional<Tensor>& bias, double eps) {
  const Expr size = channels("group_norm", x);
  if (groups < 1 || !(size % groups).is(0)) {
    throw UserError(
        fmt::format("group_norm: {} channels aren't known to be a multiple of {} "
                    "groups; choose another number of groups",
                    size.text(), groups));
  }
  const auto scale = per_channel("group_norm", "weight", weight, x);
  const auto shift = per_channel("group_norm", "bias", bias, x);
  const Dims dims = x.dims();
  return in_compute_dtype(x, [&](const Tensor& v) {
    const Tensor grouped = v.split_dims(1, {groups, size / groups}).flatten(2);
    return scale_and_shift(standardize(grouped, -1, eps).reshape(dims), scale, shift);
  });
}

Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                  double eps) {
  channels("batch_norm", x);
  const Tensor center = *per_channel("batch_norm", "running_mean", running_mean, x);
  const Tensor spread = *per_channel("batch_norm", "running_var", running_var, x);
  const auto scale = per_channel("batch_norm", "weight", weight, x);
  const auto shift = per_channel("batch_norm", "bias", bias, x);
  return in_compute_dtype(x, [&](const Tensor& v) {
    const Tensor centered = v - center.cast(v.dtype());
    return scale_and_shift(centered * rsqrt(spread.cast(v.dtype()) + eps), scale, shift);
  });
}

Tensor normalize(const Tensor& x, int axis, double eps) {
  check_float("normalize", x);
  const int which = composite::normalize_axis("normalize", axis, x.dims(), true);
  return in_compute_dtype(x, [&](const Tensor& v) {
    return v / clamp(sqrt(sum(square(v), which, {.keepdim = true})), eps);
  });
}

}  // namespace luminal
