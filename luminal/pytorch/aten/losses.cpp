// Losses and distances.
#include <cmath>
#include <limits>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/activation.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/operands/limits.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/special/hyperbolic.h"
#include "luminal/pytorch/aten/functions.h"

namespace luminal::pytorch {
namespace {

// As PyTorch numbers them: 0 keeps all, 1 is the mean, 2 the sum.
Tensor reduced_losses(const Tensor& losses, int reduction) {
  if (reduction == 0) return losses;
  return reduction == 1 ? mean(losses) : sum(losses);
}

// A loss of x and target in their compute dtype, reduced and rounded once.
template <typename Loss>
Values loss_of(const Arguments& of, int reduction, Loss loss) {
  const Tensor x = of.tensor(0), target = of.tensor(1);
  const DType dtype = composite::float_dtype(composite::result_dtype(x, target));
  const DType compute = composite::compute_dtype(dtype);
  return {reduced_losses(loss(x.cast(compute), target.cast(compute)), reduction).cast(dtype)};
}

Values squared(const Arguments& of) {
  return loss_of(of, of.integer(2), [](const Tensor& x, const Tensor& y) { return square(x - y); });
}

Values smooth(const Arguments& of) {
  const double beta = of.real(3);
  return loss_of(of, of.integer(2), [&](const Tensor& x, const Tensor& y) {
    const Tensor size = abs(x - y);
    if (beta == 0) return size;
    return where(size < beta, square(size) * (0.5 / beta), size - 0.5 * beta);
  });
}

Values huber(const Arguments& of) {
  const double delta = of.real(3);
  return loss_of(of, of.integer(2), [&](const Tensor& x, const Tensor& y) {
    const Tensor size = abs(x - y);
    return where(size <= delta, square(size) * 0.5, (size - 0.5 * delta) * delta);
  });
}

Values soft_margin(const Arguments& of) {
  return loss_of(of, of.integer(2),
                 [](const Tensor& x, const Tensor& y) { return log1p(exp(-y * x)); });
}

Values cross_entropy_of_probabilities(const Arguments& of) {
  const auto weight = of.maybe_tensor(2);
  return loss_of(of, of.integer(3), [&](const Tensor& x, const Tensor& y) {
    const Tensor no = clamp(log1p(-x), -100.0), yes = clamp(log(x), -100.0);
    const Tensor loss = (y - 1.0) * no - y * yes;
    return weight ? loss * weight->cast(loss.dtype()) : loss;
  });
}

Values cross_entropy_of_logits(const Arguments& of) {
  const auto weight = of.maybe_tensor(2), positive = of.maybe_tensor(3);
  return loss_of(of, of.integer(4), [&](const Tensor& x, const Tensor& y) {
    const Tensor log_yes = clamp(x, std::nullopt, 0.0) - log1p(exp(-abs(x)));
    Tensor share = log_yes;
    if (positive) share = ((positive->cast(x.dtype()) - 1.0) * y + 1.0) * log_yes;
    const Tensor loss = (1.0 - y) * x - share;
    return weight ? loss * weight->cast(loss.dtype()) : loss;
  });
}

// [n, classes, …] or [classes], with the class of each place.
Values likelihood(const Arguments& of) {
  const Tensor x = of.tensor(0), target = of.tensor(1).cast(DType::I64);
  const auto weight = of.maybe_tensor(2);
  const int reduction = of.integer(3), axis = x.rank() > 1 ? 1 : 0;
  const DType compute = composite::compute_dtype(x.dtype());
  const Tensor counts = ne(target, Scalar(of.size(4)));
  const Tensor index = where(counts, target, 0);
  const Tensor picked = gather(x.cast(compute), axis, index.unsqueeze(axis)).squeeze(axis);
  Tensor shares = counts.cast(compute);
  if (weight) {
    const Tensor row = weight->cast(compute);
    shares = where(counts, index_select(row, 0, index.flatten()).reshape(Dims(index.dims())), 0.0);
  }
  const Tensor losses = where(counts, -picked * shares, 0.0);
  const Tensor total = reduction == 0 ? full(of.graph(), {}, 0.0, compute) : sum(shares);
  const Tensor loss = reduction == 0 ? losses : reduction == 1 ? sum(losses) / total : sum(losses);
  return {loss.cast(x.dtype()), total.cast(x.dtype())};
}

// [n, classes] or [classes], with the class of each row.
Values margin_of_classes(const Arguments& of) {
  Tensor x = of.tensor(0), target = of.tensor(1).cast(DType::I64);
  const DType dtype = x.dtype();
  const int power = of.integer(2), reduction = of.integer(5);
  const double margin = of.real(3);
  const bool single = x.rank() < 2;
  if (single) x = x.reshape({Expr(1), x.n_elements()});
  target = target.reshape({x.dim(0)});
  x = x.cast(composite::compute_dtype(dtype));
  const Tensor index = target.unsqueeze(1);
  Tensor losses = clamp(x - gather(x, 1, index) + margin, 0.0);
  if (power == 2) losses = square(losses);
  if (const auto weight = of.maybe_tensor(4)) {
    losses = losses * index_select(weight->cast(x.dtype()), 0, target).unsqueeze(1);
  }
  const Tensor own = eq(arange(of.graph(), x.dim(1)), index);
  losses = sum(where(own, 0.0, losses), 1) / x.dim(1);
  if (single) losses = losses.reshape({});
  return {reduced_losses(losses, reduction).cast(dtype)};
}

// The targets of a row are those before the first -1.
Values margin_of_labels(const Arguments& of) {
  Tensor x = of.tensor(0), target = of.tensor(1).cast(DType::I64);
  const DType dtype = x.dtype();
  const Dims shown = target.dims();
  const bool single = x.rank() < 2;
  if (single) x = x.reshape({Expr(1), x.n_elements()});
  x = x.cast(composite::compute_dtype(dtype));
  target = target.reshape(Dims(x.dims()));
  const Tensor holds = cumprod((target >= 0).cast(DType::I64), 1) > 0;
  const Tensor index = where(holds, target, 0);
  const Tensor hit =
      logical_and(holds.unsqueeze(2), eq(index.unsqueeze(2), arange(of.graph(), x.dim(1))));
  const Tensor is_target = any(hit, 1);
  const Tensor short_of = clamp(x.unsqueeze(1) - gather(x, 1, index).unsqueeze(2) + 1.0, 0.0);
  const Tensor counts = logical_and(holds.unsqueeze(2), logical_not(is_target).unsqueeze(1));
  Tensor losses = sum(where(counts, short_of, 0.0), {1, 2}) / x.dim(1);
  if (single) losses = losses.reshape({});
  return {reduced_losses(losses, of.integer(2)).cast(dtype), is_target.cast(dtype).reshape(shown)};
}

// ‖x‖ of a given order along axes; an order of 0 counts.
Tensor length(const Tensor& x, double order, const Axes& axes, bool keepdim) {
  const ReduceOptions options{.keepdim = keepdim};
  return composite::in_compute_dtype(x, [&](const Tensor& v) {
    if (order == 2) return sqrt(sum(square(v), axes, options));
    if (order == 1) return sum(abs(v), axes, options);
    if (order == 0) return sum(ne(v, 0.0).cast(v.dtype()), axes, options);
    if (order == composite::kInf) return max(abs(v), axes, options);
    if (order == -composite::kInf) return min(abs(v), axes, options);
    return pow(sum(pow(abs(v), order), axes, options), 1 / order);
  });
}

Values vector_norm(const Arguments& of) {
  Tensor x = of.tensor(0);
  if (const auto dtype = of.maybe_dtype(4)) x = x.cast(*dtype);
  composite::check_float("vector_norm", x);
  return {length(x, of.real(1), of.axes(2), of.flag(3))};
}

Values norm_of(const Arguments& of) {
  return {length(of.tensor(0), of.maybe_real(1).value_or(2), of.axes(2), of.flag(3))};
}

Values norm_of_all(const Arguments& of) {
  return {length(of.tensor(0), of.maybe_real(1).value_or(2), {}, false)};
}

Values distance(const Arguments& of) {
  const Tensor a = of.tensor(0), b = of.tensor(1);
  const DType dtype = composite::result_dtype(a, b), compute = composite::compute_dtype(dtype);
  return {length(a.cast(compute) - b.cast(compute), of.real(2), {}, false).cast(dtype)};
}

Tensor distances(const Tensor& a, const Tensor& b, double order) {
  const DType dtype = a.dtype(), compute = composite::compute_dtype(dtype);
  const Tensor difference = a.cast(compute).unsqueeze(-2) - b.cast(compute).unsqueeze(-3);
  if (difference.dim(-1).is(0)) return sum(difference, -1).cast(dtype);
  return length(difference, order, -1, false).cast(dtype);
}

Values all_distances(const Arguments& of) {
  return {distances(of.tensor(0), of.tensor(1), of.real(2))};
}

Values own_distances(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const auto rows = x.dim(0).to_int();
  if (!rows) throw UserError("its number of rows is chosen by each run");
  if (*rows < 2) return {full(of.graph(), {0}, 0.0, x.dtype())};
  const Tensor all = distances(x, x, of.real(1));
  std::vector<Tensor> parts;
  for (int64_t i = 0; i + 1 < *rows; ++i) parts.push_back(all.select(0, i).slice_from(0, i + 1));
  return {concat(parts, 0)};
}

constexpr OpEntry kLossOps[] = {
    {"aten.mse_loss.default", "self, target, reduction=1", squared},
    {"aten.smooth_l1_loss.default", "self, target, reduction=1, beta=1.0", smooth},
    {"aten.huber_loss.default", "self, target, reduction=1, delta=1.0", huber},
    {"aten.soft_margin_loss.default", "self, target, reduction=1", soft_margin},
    {"aten.binary_cross_entropy.default", "self, target, weight=None, reduction=1",
     cross_entropy_of_probabilities},
    {"aten.binary_cross_entropy_with_logits.default",
     "self, target, weight=None, pos_weight=None, reduction=1", cross_entropy_of_logits},
    {"aten.nll_loss_forward.default", "self, target, weight, reduction, ignore_index", likelihood},
    {"aten.nll_loss2d_forward.default", "self, target, weight, reduction, ignore_index",
     likelihood},
    {"aten.multi_margin_loss.default", "self, target, p=1, margin=1, weight=None, reduction=1",
     margin_of_classes},
    {"aten.multilabel_margin_loss_forward.default", "self, target, reduction", margin_of_labels},
    {"aten.linalg_vector_norm.default", "self, ord=2, dim=None, keepdim=False, dtype=None",
     vector_norm},
    {"aten.norm.ScalarOpt_dim", "self, p, dim, keepdim=False", norm_of},
    {"aten.norm.Scalar", "self, p=2", norm_of_all},
    {"aten.dist.default", "self, other, p=2", distance},
    {"aten._cdist_forward.default", "x1, x2, p, compute_mode", all_distances},
    {"aten._pdist_forward.default", "self, p=2", own_distances},
};

}  // namespace

std::span<const OpEntry> loss_ops() { return kLossOps; }

}  // namespace luminal::pytorch
