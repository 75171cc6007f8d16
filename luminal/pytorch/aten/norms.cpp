// Normalisations.
#include "luminal/graph/composite/norm.h"

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/pytorch/aten/op_table.h"

namespace luminal::pytorch {
namespace {

Values layer_norm_of(const Arguments& of) {
  return {
      layer_norm(of.tensor(0), of.sizes(1), of.maybe_tensor(2), of.maybe_tensor(3), of.real(4))};
}

// Of halves they are halves, unless the weight is wider.
DType dtype_of_statistics(const Tensor& x, const std::optional<Tensor>& weight) {
  return weight ? weight->dtype() : x.dtype();
}

// With mean and 1/deviation, which training reads.
Values native_layer_norm(const Arguments& of) {
  const Tensor x = of.tensor(0);
  std::vector<int> axes;
  for (int i = static_cast<int>(of.sizes(1).size()); i-- > 0;) axes.push_back(-1 - i);
  const Tensor wide = is_half(x.dtype()) ? x.cast(DType::F32) : x;
  const Tensor centre = mean(wide, axes, {.keepdim = true});
  const Tensor spread = var(wide, axes, {.correction = 0, .keepdim = true});
  const DType dtype = dtype_of_statistics(x, of.maybe_tensor(2));
  return {layer_norm_of(of)[0], centre.cast(dtype), rsqrt(spread + of.real(4)).cast(dtype)};
}

Values rms_norm_of(const Arguments& of) {
  return {rms_norm(of.tensor(0), of.sizes(1), of.maybe_tensor(2), of.maybe_real(3))};
}

Values group_norm_of(const Arguments& of) {
  return {
      group_norm(of.tensor(0), of.integer(1), of.maybe_tensor(2), of.maybe_tensor(3), of.real(4))};
}

Values batch_norm_of(const Arguments& of) {
  if (of.flag(5)) throw UserError("it computes statistics of the batch: export after eval()");
  return {batch_norm(of.tensor(0), of.tensor(3), of.tensor(4), of.maybe_tensor(1),
                     of.maybe_tensor(2), of.real(7))};
}

// (input, weight, bias, mean, var, momentum, eps); the statistics of the batch have no elements.
Values core_batch_norm(const Arguments& of) {
  const Tensor none = full(of.graph(), {0}, 0, of.tensor(0).dtype());
  return {batch_norm(of.tensor(0), of.tensor(3), of.tensor(4), of.maybe_tensor(1),
                     of.maybe_tensor(2), of.real(6)),
          none, none};
}

// (input, weight, bias, N, C, HxW, group, eps), with mean and 1/deviation of each group
Values native_group_norm(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const DType compute = is_half(x.dtype()) ? DType::F32 : x.dtype();
  const Expr groups = of.size(6);
  const Tensor rows =
      x.cast(compute).reshape({of.size(3), groups, of.size(4) / groups * of.size(5)});
  const Tensor centre = mean(rows, -1), spread = var(rows, -1, {.correction = 0});
  const DType dtype = dtype_of_statistics(x, of.maybe_tensor(1));
  return {group_norm(x, of.integer(6), of.maybe_tensor(1), of.maybe_tensor(2), of.real(7)),
          centre.cast(dtype), rsqrt(spread + of.real(7)).cast(dtype)};
}

// The statistics of a batch, per channel: mean, variance, and how many elements each is of.
struct BatchStatistics {
  Tensor centre, spread;
  Expr count;
};

BatchStatistics statistics_of(const Tensor& x) {
  const DType compute = is_half(x.dtype()) ? DType::F32 : x.dtype();
  std::vector<int> axes;
  Expr count = 1;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (axis == 1) continue;
    axes.push_back(axis);
    count = count * x.dim(axis);
  }
  const Tensor wide = x.cast(compute);
  return {mean(wide, axes), var(wide, axes, {.correction = 0}), count};
}

Values normalised_by_batch(const Arguments& of, double eps) {
  const Tensor x = of.tensor(0);
  const BatchStatistics batch = statistics_of(x);
  const DType dtype = dtype_of_statistics(x, of.maybe_tensor(1));
  return {batch_norm(x, batch.centre, batch.spread, of.maybe_tensor(1), of.maybe_tensor(2), eps),
          batch.centre.cast(dtype), rsqrt(batch.spread + eps).cast(dtype)};
}

// (input, weight, bias, running_mean, running_var, training, momentum, eps)
Values native_batch_norm(const Arguments& of) {
  if (!of.flag(5)) {
    const Tensor none = of.tensor(3).narrow(0, 0, 0);
    return {batch_norm(of.tensor(0), of.tensor(3), of.tensor(4), of.maybe_tensor(1),
                       of.maybe_tensor(2), of.real(7)),
            none, none};
  }
  if (!of.is_none(3)) throw UserError("it writes to its running statistics, which isn't supported");
  return normalised_by_batch(of, of.real(7));
}

Values batch_norm_of_batch(const Arguments& of) {
  if (!of.flag(3)) throw UserError("it has no statistics");
  return normalised_by_batch(of, of.real(5));
}

// Of a step of training: with the new running statistics, after the others.
Values batch_norm_of_step(const Arguments& of, double momentum, double eps, bool has_reserve) {
  const Tensor x = of.tensor(0), old_mean = of.tensor(3), old_var = of.tensor(4);
  const BatchStatistics batch = statistics_of(x);
  Values results = normalised_by_batch(of, eps);
  if (has_reserve) results.emplace_back(full(of.graph(), {0}, 0, DType::U8));
  const DType compute = batch.centre.dtype();
  const Tensor unbiased = batch.spread * Scalar(batch.count) / Scalar(batch.count - 1);
  results.emplace_back(
      (old_mean.cast(compute) * (1 - momentum) + batch.centre * momentum).cast(old_mean.dtype()));
  results.emplace_back(
      (old_var.cast(compute) * (1 - momentum) + unbiased * momentum).cast(old_var.dtype()));
  return results;
}

Values functional_batch_norm(const Arguments& of) {
  if (of.flag(5)) return batch_norm_of_step(of, of.real(6), of.real(7), false);
  Values results = native_batch_norm(of);
  results.emplace_back(of.tensor(3));
  results.emplace_back(of.tensor(4));
  return results;
}

Values batch_norm_with_update(const Arguments& of) {
  return batch_norm_of_step(of, of.real(5), of.real(6), true);
}

// v · g / ‖v‖ over all axes but one; with the norm.
Values weight_norm(const Arguments& of) {
  const Tensor v = of.tensor(0), g = of.tensor(1);
  const DType compute = is_half(v.dtype()) ? DType::F32 : v.dtype();
  std::vector<int> axes;
  const int kept = of.integer(2) < -1 ? of.integer(2) + v.rank() : of.integer(2);
  for (int axis = 0; axis < v.rank(); ++axis) {
    if (axis != kept) axes.push_back(axis);
  }
  const Tensor wide = v.cast(compute);
  const Tensor size = sqrt(sum(square(wide), Axes(axes), {.keepdim = true}));
  return {(wide * (g.cast(compute) / size)).cast(v.dtype()), size.cast(g.dtype())};
}

constexpr OpEntry kNormsOps[] = {
    {"aten.layer_norm.default",
     "input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True",
     layer_norm_of},
    {"aten.native_layer_norm.default", "input, normalized_shape, weight, bias, eps",
     native_layer_norm},
    {"aten.rms_norm.default", "input, normalized_shape, weight=None, eps=None", rms_norm_of},
    {"aten.group_norm.default",
     "input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True", group_norm_of},
    {"aten.batch_norm.default",
     "input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled",
     batch_norm_of},
    {"aten._native_batch_norm_legit_no_training.default",
     "input, weight, bias, running_mean, running_var, momentum, eps", core_batch_norm},
    {"aten.native_group_norm.default", "input, weight, bias, N, C, HxW, group, eps",
     native_group_norm},
    {"aten.native_batch_norm.default",
     "input, weight, bias, running_mean, running_var, training, momentum, eps", native_batch_norm},
    {"aten._native_batch_norm_legit.default",
     "input, weight, bias, running_mean, running_var, training, momentum, eps", native_batch_norm},
    {"aten._native_batch_norm_legit.no_stats", "input, weight, bias, training, momentum, eps",
     batch_norm_of_batch},
    {"aten._native_batch_norm_legit_functional.default",
     "input, weight, bias, running_mean, running_var, training, momentum, eps",
     functional_batch_norm},
    {"aten._batch_norm_with_update_functional.default",
     "input, weight, bias, running_mean, running_var, momentum, eps", batch_norm_with_update},
    {"aten._weight_norm.default", "v, g, dim=0",
     [](const Arguments& of) -> Values { return {weight_norm(of)[0]}; }},
    {"aten._weight_norm_interface.default", "v, g, dim=0", weight_norm},
};

}  // namespace

std::span<const OpEntry> norm_ops() { return kNormsOps; }

}  // namespace luminal::pytorch
